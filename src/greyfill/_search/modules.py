"""A kernel and all that it calls, compiled as one module.

Numba makes machine code of each function on its own, and optimizes it again in each function that
calls it, and in their callers. Here what a kernel calls is a fragment of it: translated once, then
optimized and made machine code once, with the kernel, to the same results. Steps of numba's that
are for closures, literals and options, which kernels have not, are left out. Python's search for
cycles rests meanwhile: compiling makes millions of objects, and hardly a cycle.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numba
from numba.core import codegen, compiler

from greyfill._search import lookups

LIBRARY: Any = codegen.JITCodeLibrary
COMPILER: Any = compiler.Compiler

NEEDED = (
    (LIBRARY, "_optimize_functions", "_optimize_final_module"),
    (LIBRARY, "_finalize_final_module", "_finalize_dynamic_globals", "_get_module_for_linking"),
    (codegen.JITCPUCodegen, "_library_class", "set_env"),
    (compiler.CompileResult, "_find_referenced_environments"),
    (COMPILER, "compile_extra", "define_pipelines"),
    *lookups.NEEDED,
)
"""What is extended here."""

TESTED = (0, 60), (0, 68)
"""The numbas that it was tried with; how others compile is not known."""

NEEDLESS = (
    "with_lifting", "inline_closure_likes", "rewrite_semantic_constants", "dead_branch_prune",
    "make_function_op_code_to_jit_function", "inline_inlinables", "find_literally",
    "literal_unroll", "LiteralPropagation", "inline_overloads", "dump_parfor_diagnostics",
    "nopython_supported_feature_validation",
)  # fmt: skip
"""Steps that change nothing in kernels."""

OF_LIFETIMES = "ir_legalization"
"""The step that ends the life of each variable, which means something where arrays are made."""


class KernelCode(LIBRARY):  # type: ignore[misc]
    """Code of a kernel, which is optimized as a whole, not first function by function."""

    def _optimize_functions(self, module: Any) -> None:
        """Leave this to the whole."""


class Fragment(KernelCode):
    """Code that waits to be linked into the kernel that calls it.

    Where its address is wanted after all, it is compiled like any function of numba.
    """

    is_built = False

    def _optimize_final_module(self) -> None:
        """Leave this to the kernel."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        """The code for a kernel: numba's own way copies it first, to keep what Python calls."""
        self._ensure_finalized()
        if self.is_built:
            return super()._get_module_for_linking()
        for function in self._defined("external"):
            function.linkage = "linkonce_odr"
        return self._final_module

    def _defined(self, linkage: str) -> list[Any]:
        functions = self.get_defined_functions()
        return [f for f in functions if f.linkage.name == linkage]

    def get_pointer_to_function(self, name: str) -> Any:
        """The address of a function, 0 if there is none of that name."""
        if not self.is_built and any(f.name == name for f in self.get_defined_functions()):
            for function in self._defined("linkonce_odr"):
                function.linkage = "external"
            super()._optimize_final_module()
            super()._finalize_final_module()
            self.is_built = True
        return super().get_pointer_to_function(name)

    @property
    def codegen(self) -> Any:
        """Where the code's environment is set: nowhere, as long as it is no machine code."""
        return self._codegen if self.is_built else self

    def set_env(self, name: str, environment: Any) -> None:
        """Leave this to the kernel."""


class ShortCompiler(COMPILER):  # type: ignore[misc]
    """Numba's compiler without steps that a kernel has no need of."""

    def define_pipelines(self) -> Any:
        """Numba's steps, without some."""
        pipelines = super().define_pipelines()
        needless = NEEDLESS if self.state.flags.nrt else (*NEEDLESS, OF_LIFETIMES)
        for pipeline in pipelines:
            pipeline.passes = [step for step in pipeline.passes if step[0].name() not in needless]
            pipeline.finalize()
        return pipelines


class ModuleCompiler(ShortCompiler):
    """Numba's compiler for a kernel whose callees are fragments of its module."""

    def compile_extra(self, func: Any) -> Any:
        """Compile the kernel."""
        generator = self.state.targetctx.codegen()
        library = self.state.library = KernelCode(generator, func.__qualname__)
        library.enable_object_caching()
        with _fragments(generator), lookups.remembered():
            result = super().compile_extra(func)
        for environment in result._find_referenced_environments():
            generator.set_env(environment.env_name, environment)
        return result


@contextmanager
def _fragments(generator: Any) -> Iterator[None]:
    """All that is compiled meanwhile becomes fragments."""
    kind, collects = generator._library_class, gc.isenabled()
    generator._library_class = Fragment
    gc.disable()
    try:
        yield
    finally:
        generator._library_class = kind
        if collects:
            gc.enable()


def is_known() -> bool:
    """Whether numba is as we know it."""
    oldest, newest = TESTED
    has_all = all(hasattr(owner, name) for owner, *names in NEEDED for name in names)
    return has_all and oldest <= numba.version_info.short <= newest


def kernel_compiler(*, of_inner: bool = False) -> Any:
    """The compiler of kernels, or of what they call: ours where numba is as we know it."""
    if not is_known():
        return COMPILER
    return ShortCompiler if of_inner else ModuleCompiler
