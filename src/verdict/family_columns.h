// SPDX-License-Identifier: Apache-2.0
// What the shapes of each family look like: the functions that the rows of family_table.cc name.
//
// Each appends to `shapes` those that the run can show, with `prior` shared among them: everything
// nonlinear in a shape (tau, the place of a hinge) is a grid, and the grid shares the weight, so
// that freedom is paid for.
#pragma once

#include <vector>

#include "verdict/basis.h"

namespace plateau {

using MakeShapes = void(Basis& basis, double prior, std::vector<Shape>& shapes);

// Bounded.
MakeShapes make_level, make_warm_up, make_stretched_warm_up, make_two_warm_ups, make_records,
    make_fill_until_epoch, make_fill_beside_warm_up, make_fill_until_capacity, make_still_filling,
    make_ramp_within_epochs, make_first_evaluations, make_first_checkpoints, make_first_epochs,
    make_waves, make_follows_load, make_follows_examples;

// Unbounded.
MakeShapes make_line, make_line_over_ramp, make_parabola, make_line_after_warm_up,
    make_line_after_epoch, make_late_line, make_step_per_evaluation, make_step_per_checkpoint,
    make_step_per_epoch, make_line_under_waves, make_line_beside_load;

}  // namespace plateau
