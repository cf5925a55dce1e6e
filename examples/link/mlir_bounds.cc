// Are the accesses in an MLIR file in bounds?  Proviso's answer, MLIR's beside.
//
//   mlir_bounds accesses.mlir
//   9 affine.load: proviso yes, mlir unknown
//
// What stands around an access (loops, conditions) becomes facts, a scope each
// (mlir_expressions.h makes expressions of values).  MLIR's answer is its
// affine analysis' for affine accesses, and its ranges of integers for the
// rest.  As both take it, indices do not overflow.
#include <mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h>
#include <mlir/Analysis/DataFlow/DeadCodeAnalysis.h>
#include <mlir/Analysis/DataFlow/IntegerRangeAnalysis.h>
#include <mlir/Dialect/Affine/Analysis/Utils.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Dialect/SCF/IR/SCF.h>
#include <mlir/IR/IntegerSet.h>
#include <mlir/Parser/Parser.h>
#include <proviso/solver/solver.h>

#include <iostream>

#include "mlir_expressions.h"

namespace {

using namespace mlir;
using proviso::Condition, proviso::Expr, proviso::Scope, proviso::Verdict;
using Ranges = dataflow::IntegerValueRangeLattice;
using Predicate = arith::CmpIPredicate;

class Checker {
 public:
  explicit Checker(DataFlowSolver& ranges) : ranges_(ranges) {}

  void check(Region& region) {
    for (Block& block : region)
      for (Operation& op : block) check(op);
  }
  int accesses = 0, proved = 0, proved_by_mlir = 0;

 private:
  void check(Operation& op) {
    const Scope scope(context_);
    if (auto loop = dyn_cast<AffineForOp>(op)) {
      const Expr i = of_.value(loop.getInductionVar());
      const AffineMap low = loop.getLowerBoundMap();
      const AffineMap high = loop.getUpperBoundMap();
      for (AffineExpr e : low.getResults()) {
        const Expr from =
            of_.affine(e, loop.getLowerBoundOperands(), low.getNumDims());
        context_.assume(i >= from);
        if (low.getNumResults() == 1)
          context_.assume((i - from) % loop.getStep() == 0);
      }
      for (AffineExpr e : high.getResults())
        context_.assume(
            i < of_.affine(e, loop.getUpperBoundOperands(), high.getNumDims()));
    } else if (auto scf_loop = dyn_cast<scf::ForOp>(op)) {
      const Expr i = of_.value(scf_loop.getInductionVar());
      const Expr step = of_.value(scf_loop.getStep());
      const Expr from = of_.value(scf_loop.getLowerBound());
      context_.assume(step >= 1 && i >= from &&
                      i < of_.value(scf_loop.getUpperBound()));
      context_.assume((i - from) % step == 0);
    } else if (auto choice = dyn_cast<scf::IfOp>(op)) {
      return branches(op, condition(choice.getCondition()));
    } else if (auto affine = dyn_cast<AffineIfOp>(op)) {
      const IntegerSet set = affine.getIntegerSet();
      Condition all = pool_.boolean(true);
      for (unsigned i = 0; i < set.getNumConstraints(); ++i) {
        const Expr e = of_.affine(set.getConstraint(i), op.getOperands(),
                                  set.getNumDims());
        all = all && (set.isEq(i) ? e == 0 : e >= 0);
      }
      return branches(op, all);
    }
    access(op);
    for (Region& region : op.getRegions()) check(region);
  }
  void branches(Operation& op, Condition holds) {
    for (unsigned i = 0; i < 2; ++i) {
      const Scope scope(context_);
      context_.assume(i == 0 ? holds : !holds);
      check(op.getRegion(i));
    }
  }
  Condition condition(Value v) {
    if (auto both = v.getDefiningOp<arith::AndIOp>())
      return condition(both.getLhs()) && condition(both.getRhs());
    if (auto c = v.getDefiningOp<arith::CmpIOp>()) {
      const Expr a = of_.value(c.getLhs()), b = of_.value(c.getRhs());
      if (c.getPredicate() == Predicate::eq) return eq(a, b);
      if (c.getPredicate() == Predicate::slt) return a < b;
      if (c.getPredicate() == Predicate::sle) return a <= b;
      if (c.getPredicate() == Predicate::sgt) return a > b;
      if (c.getPredicate() == Predicate::sge) return a >= b;
    }
    return of_.symbol(proviso::SymbolKind::kUnbackedBool) == 1;  // either way
  }

  // 0 <= first and last < extent, in each dimension.
  void access(Operation& op) {
    Condition inside = pool_.boolean(true);
    bool by_mlir = true;
    auto add = [&](Value shaped, unsigned i, Expr first, Expr last) {
      inside = inside && first >= 0 && last < of_.extent(shaped, i);
    };
    auto add_values = [&](auto at, Value shaped) {
      for (unsigned i = 0; i < at.getIndices().size(); ++i) {
        const Value index = at.getIndices()[i];
        add(shaped, i, of_.value(index), of_.value(index));
        by_mlir = by_mlir && is_in_range(index, shaped, i);
      }
    };
    auto add_map = [&](auto at) {
      const AffineMap map = at.getAffineMap();
      for (unsigned i = 0; i < map.getNumResults(); ++i) {
        const Expr e =
            of_.affine(map.getResult(i), at.getMapOperands(), map.getNumDims());
        add(at.getMemRef(), i, e, e);
      }
      by_mlir = at.getMemRefType().hasStaticShape() &&  // 16 knows no others
                succeeded(boundCheckLoadOrStoreOp(at, false));
    };
    if (auto read = dyn_cast<AffineReadOpInterface>(op)) {
      add_map(read);
    } else if (auto write = dyn_cast<AffineWriteOpInterface>(op)) {
      add_map(write);
    } else if (auto load = dyn_cast<memref::LoadOp>(op)) {
      add_values(load, load.getMemRef());
    } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
      add_values(store, store.getMemRef());
    } else if (auto element = dyn_cast<tensor::ExtractOp>(op)) {
      add_values(element, element.getTensor());
    } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      for (unsigned i = 0; i < slice.getMixedOffsets().size(); ++i) {
        const Expr first = of_.value(slice.getMixedOffsets()[i]);
        const Expr size = of_.value(slice.getMixedSizes()[i]);
        const Expr step = of_.value(slice.getMixedStrides()[i]);
        inside = inside && size >= 0;
        add(slice.getSource(), i, first, first + (size - 1) * step);
      }
      by_mlir = false;  // 16 does not answer for slices
    } else {
      return;
    }
    const proviso::Answer answer = context_.ask(inside);
    ++accesses;
    proved += answer.verdict == Verdict::kYes;
    proved_by_mlir += by_mlir;
    std::cout << op.getLoc().cast<FileLineColLoc>().getLine() << " "
              << op.getName().getStringRef().str() << ": proviso "
              << name_of(answer.verdict) << ", mlir "
              << (by_mlir ? "yes" : "unknown");
    if (answer.counterexample)
      std::cout << "; not at " << answer.counterexample->to_string();
    std::cout << '\n';
  }
  bool is_in_range(Value index, Value shaped, unsigned i) {
    auto type = shaped.getType().cast<ShapedType>();
    const Ranges* known = ranges_.lookupState<Ranges>(index);
    if (type.isDynamicDim(i) || !known || known->getValue().isUninitialized())
      return false;
    const ConstantIntRanges& range = known->getValue().getValue();
    return !range.smin().isNegative() &&
           range.smax().slt(static_cast<uint64_t>(type.getDimSize(i)));
  }

  DataFlowSolver& ranges_;
  proviso::ExprPool pool_;
  proviso::Context context_{pool_};
  Expressions of_{pool_};
};

}  // namespace

int main(int argc, char** argv) {
  MLIRContext mlir;
  mlir.loadDialect<AffineDialect, arith::ArithDialect, func::FuncDialect,
                   memref::MemRefDialect, scf::SCFDialect,
                   tensor::TensorDialect>();
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(argc == 2 ? argv[1] : "", &mlir);
  if (!module) return 2;  // MLIR has said why
  DataFlowSolver ranges;
  ranges.load<dataflow::DeadCodeAnalysis>();
  ranges.load<dataflow::SparseConstantPropagation>();
  ranges.load<dataflow::IntegerRangeAnalysis>();
  if (failed(ranges.initializeAndRun(*module))) return 2;
  Checker checker(ranges);
  checker.check(module->getRegion());
  std::cout << checker.accesses << " accesses: " << checker.proved
            << " proved to be in bounds, " << checker.proved_by_mlir
            << " by MLIR\n";
  return checker.proved == checker.accesses ? 0 : 1;
}
