// Arrays on their way between Python and the algorithms.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "core/budget.hpp"
#include "core/views.hpp"

namespace sev::bind {

namespace nb = nanobind;

template <class T, int n_dimensions>
using Array = nb::ndarray<const T, nb::ndim<n_dimensions>, nb::c_contig, nb::device::cpu>;
using Ints = Array<std::int64_t, 1>;
using Words = Array<std::uint64_t, 1>;
using Floats = Array<double, 1>;
using Bools = Array<bool, 1>;
using FloatRows = Array<double, 2>;
using BoolRows = Array<bool, 2>;

template <class ArrayType>
void check_alignment(const ArrayType& array) {
    using T = typename ArrayType::Scalar;
    if (array.size() > 0 && reinterpret_cast<std::uintptr_t>(array.data()) % alignof(T) != 0)
        throw nb::type_error("an array is not aligned in memory; numpy.require(array, requirements='A') makes a copy that is");
}

template <class T>
Span<const T> span(const Array<T, 1>& array) {
    check_alignment(array);
    return {array.data(), array.size()};
}

template <class T>
Matrix<const T> matrix(const Array<T, 2>& array) {
    check_alignment(array);
    return {array.data(), array.shape(0), array.shape(1)};
}

/// Truth values as bytes: any byte but 0 is true, whatever made the array.
inline Matrix<const std::uint8_t> bytes(const BoolRows& array) {
    return {reinterpret_cast<const std::uint8_t*>(array.data()), array.shape(0), array.shape(1)};
}

/// Hands a vector over to numpy.
template <class T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T>&& values, std::vector<std::size_t> shape) {
    auto* kept = new std::vector<T>(std::move(values));
    if (kept->empty()) kept->reserve(1);
    nb::capsule owner(kept, [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
    return nb::ndarray<nb::numpy, T>(kept->data(), shape.size(), shape.data(), owner);
}

template <class T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T>&& values) {
    const std::size_t size = values.size();
    return to_numpy(std::move(values), {size});
}

/// What this thread calls while it searches, with a reference of its own; null: nothing.
inline PyObject*& poll_of_thread() {
    static thread_local PyObject* poll = nullptr;
    return poll;
}

/// Only the main thread is told of signals.
inline bool is_main_thread() {
    const nb::object main = nb::module_::import_("threading").attr("main_thread")().attr("ident");
    return main.equal(nb::int_(PyThread_get_thread_ident()));
}

/// Lets Python deal with signals every few milliseconds: Ctrl-C ends a search, and so does an exception of what the thread
/// calls meanwhile. Made with the GIL, called without it. A thread that has nothing to ask does not wait for the GIL, which
/// a model may hold for as long as it predicts in another thread.
inline Pulse signal_pulse() {
    if (poll_of_thread() == nullptr && !is_main_thread()) return Pulse([] {});
    return Pulse([] {
        nb::gil_scoped_acquire hold;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (poll_of_thread() != nullptr) nb::borrow(poll_of_thread())();
    });
}

void bind_linear(nb::module_& m);
void bind_rows(nb::module_& m);
void bind_trees(nb::module_& m);
void bind_free(nb::module_& m);
void bind_joint(nb::module_& m);

}  // namespace sev::bind
