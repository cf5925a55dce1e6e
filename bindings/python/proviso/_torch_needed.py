"""torch, for the parts of proviso that cannot do without it: where there is none,
importing this says so."""

TORCH_VERSION = "2.13.0"

try:
    import torch  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise ImportError(
        f"this part of proviso needs torch {TORCH_VERSION}, and torch is not "
        f"installed; run `pip install torch=={TORCH_VERSION}`.  Context, Expr "
        "and what else does not trace work without it"
    ) from None
