// Values of MLIR's index arithmetic as Proviso's expressions.
//
//   Expressions of(pool);
//   of.value(v);                  // v0 + 4*v1, of arith.addi, arith.muli, ...
//   of.extent(memref, 1);         // a number, or a size of its own
//   of.affine(e, operands, dims); // of a map's or a set's expression
//
// What is not understood is a symbol that nothing is known of.
#pragma once

#include <llvm/ADT/TypeSwitch.h>
#include <mlir/Dialect/Affine/IR/AffineOps.h>
#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/MemRef/IR/MemRef.h>
#include <mlir/Dialect/Tensor/IR/Tensor.h>
#include <mlir/IR/Matchers.h>
#include <proviso/sym/operators.h>

#include <map>
#include <string>

class Expressions {
 public:
  using Expr = proviso::Expr;
  using Kind = proviso::SymbolKind;

  explicit Expressions(proviso::ExprPool& pool) : pool_(pool) {}

  Expr value(mlir::Value v) {
    auto known = values_.find(v.getAsOpaquePointer());
    if (known != values_.end()) return known->second;
    return values_[v.getAsOpaquePointer()] = made_of(v);
  }
  Expr value(mlir::OpFoldResult v) {
    if (auto known = v.dyn_cast<mlir::Value>()) return value(known);
    auto number = v.get<mlir::Attribute>().cast<mlir::IntegerAttr>();
    return pool_.integer(number.getInt());
  }
  Expr affine(mlir::AffineExpr e, mlir::ValueRange operands, unsigned dims) {
    if (auto c = e.dyn_cast<mlir::AffineConstantExpr>())
      return pool_.integer(c.getValue());
    if (auto d = e.dyn_cast<mlir::AffineDimExpr>())
      return value(operands[d.getPosition()]);
    if (auto s = e.dyn_cast<mlir::AffineSymbolExpr>())
      return value(operands[dims + s.getPosition()]);
    auto both = e.cast<mlir::AffineBinaryOpExpr>();
    const Expr a = affine(both.getLHS(), operands, dims);
    const Expr b = affine(both.getRHS(), operands, dims);
    switch (e.getKind()) {
      case mlir::AffineExprKind::Add: return a + b;
      case mlir::AffineExprKind::Mul: return a * b;
      case mlir::AffineExprKind::Mod: return a % b;
      case mlir::AffineExprKind::FloorDiv: return a / b;
      default: return ceil_div(a, b);
    }
  }
  Expr extent(mlir::Value shaped, unsigned i) {
    auto type = shaped.getType().cast<mlir::ShapedType>();
    if (!type.isDynamicDim(i)) return pool_.integer(type.getDimSize(i));
    const unsigned dynamic = type.getDynamicDimIndex(i);
    if (auto made = shaped.getDefiningOp<mlir::memref::AllocOp>())
      return value(made.getDynamicSizes()[dynamic]);
    if (auto made = shaped.getDefiningOp<mlir::tensor::EmptyOp>())
      return value(made.getDynamicSizes()[dynamic]);
    Expr& known = extents_[{shaped.getAsOpaquePointer(), i}];
    return known ? known : known = symbol(Kind::kBackedSize);
  }
  Expr symbol(Kind kind) {
    return pool_.symbol("v" + std::to_string(symbols_++), kind);
  }

 private:
  Expr made_of(mlir::Value v) {
    using namespace mlir;
    llvm::APInt constant;
    if (matchPattern(v, m_ConstantInt(&constant)))
      return pool_.integer(constant.getSExtValue());
    Operation* op = v.getDefiningOp();
    if (op == nullptr) return symbol(Kind::kUnbackedInt);
    auto a = [&] { return value(op->getOperand(0)); };
    auto b = [&] { return value(op->getOperand(1)); };
    auto joined = [&](AffineMap map, Expr (*join)(Expr, Expr)) {
      Expr all;
      for (AffineExpr e : map.getResults()) {
        const Expr next = affine(e, op->getOperands(), map.getNumDims());
        all = all ? join(all, next) : next;
      }
      return all;
    };
    return llvm::TypeSwitch<Operation*, Expr>(op)
        .Case([&](arith::AddIOp) { return a() + b(); })
        .Case([&](arith::SubIOp) { return a() - b(); })
        .Case([&](arith::MulIOp) { return a() * b(); })
        .Case([&](arith::FloorDivSIOp) { return floor_div(a(), b()); })
        .Case([&](arith::CeilDivSIOp) { return ceil_div(a(), b()); })
        .Case([&](arith::MinSIOp) { return proviso::min(a(), b()); })
        .Case([&](arith::MaxSIOp) { return proviso::max(a(), b()); })
        .Case([&](AffineApplyOp x) { return joined(x.getAffineMap(), {}); })
        .Case([&](AffineMinOp x) { return joined(x.getMap(), proviso::min); })
        .Case([&](AffineMaxOp x) { return joined(x.getMap(), proviso::max); })
        .Case<memref::DimOp, tensor::DimOp>([&](auto dim) {
          auto i = dim.getConstantIndex();
          return i ? extent(dim.getSource(), static_cast<unsigned>(*i))
                   : symbol(Kind::kBackedSize);
        })
        .Default([&](Operation*) { return symbol(Kind::kUnbackedInt); });
  }

  proviso::ExprPool& pool_;
  std::map<const void*, Expr> values_;
  std::map<std::pair<const void*, unsigned>, Expr> extents_;
  int symbols_ = 0;
};
