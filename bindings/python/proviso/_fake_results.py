"""Results of operators without a shape rule of ours: what the operator's own
fake implementation, or torch's meta function in Python, makes of traced tensors.
"""

import functools

from proviso import _proviso


class _FakeContext:
    """What torch.library.get_ctx() gives inside a fake implementation."""

    def new_dynamic_size(self, *, min=0, max=None):
        return _proviso.new_dynamic_size(min, max)

    def create_unbacked_symint(self, *, min=2, max=None):
        return self.new_dynamic_size(min=min, max=max)


def results_of(name, overload, args, kwargs):
    """What an operator returns for traced tensors, by its own fake
    implementation or by torch's meta function in Python."""
    kernel = (_meta_function(name, overload)
              if name.partition("::")[0] in ("aten", "prims")
              else _fake_implementation(name))
    return NotImplemented if kernel is None else kernel(*args, **kwargs)


def _fake_implementation(name):
    from torch._library import fake_impl, simple_registry

    kernel = simple_registry.singleton.find(name).fake_impl.kernel

    def run(*args, **kwargs):
        with fake_impl.set_ctx_getter(_FakeContext):
            return kernel(*args, **kwargs)

    return run if kernel is not None else None


@functools.cache
def _meta_function(name, overload):
    import torch._meta_registrations  # registers most of them

    space, _, base = name.partition("::")
    op = getattr(getattr(getattr(torch.ops, space), base),
                 overload or "default")
    if space == "prims":
        return op.prim_meta_impl
    if any(a.is_out for a in op._schema.arguments):
        return None
    return op.py_kernels.get(torch._C.DispatchKey.Meta)
