#include "solver/state/bounds.h"

#include <utility>

namespace proviso::inline v0_2::internal {

void Bounds::note(uint8_t what, uint32_t index, const End& old) {
  if (old.value) {
    what |= kHadValue;
    replaced_.push_back(old);
  }
  trail_.note(*this, what, index);
}

void Bounds::undo(uint8_t what, uint32_t index) {
  End old;
  if (what & kHadValue) {
    old = std::move(replaced_.back());
    replaced_.pop_back();
  }
  if (what & kForm) {
    Ends& ends = forms_[index];
    (what & kLower ? ends.low : ends.high) = std::move(old);
    return;
  }
  Range& own = atoms_.record(index).own;
  if (what & kLower) {
    own.span.set_lower(std::move(old.value));
    own.lower = old.why;
  } else {
    own.span.set_upper(std::move(old.value));
    own.upper = old.why;
  }
}

void Bounds::set(AtomId a, bool lower, const Int& value, Reason why) {
  Range& own = atoms_.record(a).own;
  if (lower) {
    note(kAtom | kLower, a, {own.span.lower(), own.lower});
    own.span.set_lower(value);
    own.lower = why;
  } else {
    note(kAtom, a, {own.span.upper(), own.upper});
    own.span.set_upper(value);
    own.upper = why;
  }
  trail_.advance();
}

const Bounds::End& Bounds::end_of(PolyId form, bool lower) const {
  static const End kNone;
  const uint32_t slot = slot_of_form_.get(form);
  if (slot == kNoId) return kNone;
  return lower ? forms_[slot].low : forms_[slot].high;
}

Range Bounds::of_form(const PrimitivePart& v, const Int& constant,
                      ReasonArena& reasons) const {
  const uint32_t slot = slot_of_form_.get(v.part);
  if (slot == kNoId) return {};
  const Ends& f = forms_[slot];
  Range r{Interval::of(f.low.value, f.high.value), f.low.why, f.high.why};
  if (r.span.is_empty()) r.lower = r.upper = reasons.join(r.lower, r.upper);
  return shifted(scaled(r, v.content), constant);
}

const Bounds::Ends* Bounds::set_form(const PrimitivePart& v,
                                     const Int& constant, Reason why,
                                     uint32_t constraint) {
  const bool lower = v.content.sign() > 0;
  Int bound =
      lower ? -floor_div(constant, v.content) : floor_div(constant, -v.content);
  uint32_t& slot = slot_of_form_.at(v.part);
  if (slot == kNoId) {
    slot = static_cast<uint32_t>(forms_.size());
    forms_.emplace_back();
  }
  Ends& ends = forms_[slot];
  End& end = lower ? ends.low : ends.high;
  if (end.value && (lower ? *end.value >= bound : *end.value <= bound)) {
    return nullptr;
  }
  note(kForm | (lower ? kLower : 0), slot, end);
  end = {std::move(bound), why, constraint};
  trail_.advance();
  return &ends;
}

}  // namespace proviso::inline v0_2::internal
