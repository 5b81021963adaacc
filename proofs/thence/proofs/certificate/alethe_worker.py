"""A process that asks cvc5 for proof objects: one JSON request on standard input, one JSON line for each obligation."""

from __future__ import annotations

import json
import sys

from thence.proofs.solving.solver_worker import asked_for_longer, reason_of_cvc5

OPTIONS = {"produce-proofs": "true", "proof-granularity": "dsl-rewrite", "seed": "0", "enum-inst": "true"}
"""With this granularity cvc5 gives every rewrite by a rule: the proofs of obligations have no hole."""


def proof_of(text: str, timeout_ms: int) -> str | None:
    """The Alethe proof of an obligation, or None where cvc5 does not find that it is unsatisfiable."""
    return asked_for_longer(timeout_ms, lambda clock_ms: _proof_within(text, clock_ms))[0]


def _proof_within(text: str, clock_ms: int) -> tuple[str | None, str]:
    """The proof, or None and cvc5's own word for why it does not know, if that is so. The limit is by the clock."""
    import cvc5

    solver = cvc5.Solver(cvc5.TermManager())
    for option, value in {**OPTIONS, "tlimit-per": str(clock_ms)}.items():
        solver.setOption(option, value)
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text.replace("(check-sat)", ""), "obligation")
    symbols = parser.getSymbolManager()
    while not (command := parser.nextCommand()).isNull():
        if command.invoke(solver, symbols).startswith("(error"):
            return None, ""
    result = solver.checkSat()
    if not result.isUnsat():
        return None, "" if result.isSat() else reason_of_cvc5(result)
    written = solver.proofToString(solver.getProof()[0], cvc5.ProofFormat.ALETHE)
    return written.decode() if isinstance(written, bytes) else str(written), ""


def main() -> None:
    """Answers one request: `{"texts": [...], "timeout_ms": n}`."""
    request = json.load(sys.stdin)
    for text in request["texts"]:
        try:
            proof = proof_of(text, request["timeout_ms"])
        except RuntimeError:
            proof = None
        print(json.dumps(proof), flush=True)


if __name__ == "__main__":
    main()
