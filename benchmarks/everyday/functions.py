"""The functions: where each stands, with the sizes that models and programs have, and its textbook kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
MODELS, ARRAYS, PUBLIC = "models.py", "arrays.py", "public.py"


@dataclass(frozen=True)
class Function:
    """One function as a user brings it."""

    name: str  # of the task, of the textbook kernel, and in the file unless `program` is given
    file: str  # in this folder: what is imported, or the reference of a program
    sizes: str
    inputs: tuple[str, ...] = ()
    program: str = ""  # a HIP or CUDA file below the folder of public repositories, with a function of it

    def source(self, public: Path | None) -> str:
        """Name what is imported, as --from takes it."""
        return f"{public}/{self.program}" if self.program else f"{FOLDER / self.file}:{self.name}"

    def options(self) -> list[str]:
        """List the import's further options."""
        reference = ["--reference", f"{FOLDER / self.file}:{self.name}"] if self.program else []
        sizes = ["--size", self.sizes] if self.sizes else []
        return [*reference, *(word for spec in self.inputs for word in ("--input", spec)), *sizes]

    @property
    def textbook(self) -> Path:
        """Return the plain kernel of somebody who did not see the generator."""
        return FOLDER / f"{self.name}.hip"

    @property
    def group(self) -> str:
        """Name the language that the function comes in."""
        return {MODELS: "PyTorch", ARRAYS: "NumPy", PUBLIC: "HIP or CUDA"}[self.file]


FUNCTIONS = (
    Function(
        "rope",
        MODELS,
        "batch=2,seq=2048,heads=32,dim=128",
        ("q=f32[batch,seq,heads,dim]", "cos=f32[seq,dim]", "sin=f32[seq,dim]"),
    ),
    Function("bias_gelu", MODELS, "rows=4096,cols=4096", ("x=f32[rows,cols]", "bias=f32[cols]")),
    Function("rms_norm", MODELS, "rows=8192,cols=4096", ("x=bf16[rows,cols]", "weight=bf16[cols]")),
    Function(
        "add_layer_norm",
        MODELS,
        "rows=8192,cols=2048",
        ("x=f32[rows,cols]", "residual=f32[rows,cols]", "weight=f32[cols]", "bias=f32[cols]"),
    ),
    Function(
        "masked_softmax",
        MODELS,
        "batch=4,heads=16,queries=1024,keys=1024",
        ("scores=f32[batch,heads,queries,keys]", "mask=bool[queries,keys]"),
    ),
    Function("swiglu", MODELS, "rows=4096,hidden=11008", ("x=bf16[rows,2*hidden]",)),
    Function(
        "group_norm",
        MODELS,
        "batch=8,channels=256,height=64,width=64",
        ("x=f32[batch,channels,height,width]", "weight=f32[channels]", "bias=f32[channels]"),
    ),
    Function(
        "cross_entropy", MODELS, "rows=2048,classes=32000", ("logits=f32[rows,classes]", "labels=i64[rows]:classes")
    ),
    Function("quantise_rows", MODELS, "rows=4096,cols=4096", ("x=f32[rows,cols]",)),
    Function("column_moments", MODELS, "rows=16384,cols=1024", ("x=f32[rows,cols]",)),
    Function("row_cumsum", ARRAYS, "rows=4096,cols=4096", ("x=f32[rows,cols]",)),
    Function("l2_normalise", ARRAYS, "rows=16384,cols=1024", ("x=f32[rows,cols]",)),
    Function("huber", ARRAYS, "n=16777216", ("prediction=f32[n]", "target=f32[n]")),
    Function("grey_gamma", ARRAYS, "height=2160,width=3840", ("rgb=u8[height,width,3]",)),
    Function("transposed_add", ARRAYS, "rows=4096,cols=4096", ("a=f32[rows,cols]", "b=f32[cols,rows]")),
    Function(
        "softmax",
        PUBLIC,
        "numSlice=16384,sliceSize=784",
        ("src=f32[numSlice,sliceSize]",),
        "HeCBench/src/softmax-hip/main.cu:softMax",
    ),
    Function(
        "matrix_product",
        PUBLIC,
        "a_rows=2048,a_cols=1024,b_cols=1024",
        ("A=f32[a_rows,a_cols]", "B=f32[a_cols,b_cols]"),
        "rocm-examples/HIP-Basic/matrix_multiplication/main.hip",
    ),
    Function(
        "layer_norm",
        PUBLIC,
        "B=8,T=1024,C=768,block_size=256",
        ("inp=f32[B*T,C]", "weight=f32[C]", "bias=f32[C]"),
        "llm.c/dev/cuda/layernorm_forward.cu:layernorm_forward1",
    ),
    Function("black_scholes", PUBLIC, "", (), "cuda-samples/Samples/5_Domain_Specific/BlackScholes/BlackScholes.cu"),
    Function("cheapest_paths", PUBLIC, "rows=100,cols=100000", (), "gpu-rodinia/cuda/pathfinder/pathfinder.cu"),
)


def chosen(names: Sequence[str]) -> list[Function]:
    """List the functions of these names; all where there are none."""
    return [function for function in FUNCTIONS if not names or function.name in names]
