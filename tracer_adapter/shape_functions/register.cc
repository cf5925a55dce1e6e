// tracer_adapter/shape_functions/register.cc - all families.
#include "tracer_adapter/trace/rule.h"

namespace proviso::inline v0_2 {

void register_composite_rules();
void register_data_dependent_rules();
void register_elementwise_rules();
void register_gradient_rules();
void register_factorisation_rules();
void register_factory_rules();
void register_fourier_rules();
void register_indexing_rules();
void register_linalg_rules();
void register_loss_rules();
void register_nn_rules();
void register_norm_rules();
void register_recurrence_rules();
void register_reduction_rules();
void register_statistics_rules();
void register_view_rules();

void register_all_rules() {
  // Later rows win; the composites are the fall-back.
  register_composite_rules();
  register_elementwise_rules();
  register_gradient_rules();
  register_view_rules();
  register_factory_rules();
  register_reduction_rules();
  register_statistics_rules();
  register_indexing_rules();
  register_linalg_rules();
  register_factorisation_rules();
  register_nn_rules();
  register_norm_rules();
  register_loss_rules();
  register_fourier_rules();
  register_recurrence_rules();
  register_data_dependent_rules();
}

}  // namespace proviso::inline v0_2
