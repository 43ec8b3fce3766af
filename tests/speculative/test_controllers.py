from __future__ import annotations

import toy

from hsd_docparse.speculative import AlignedText, Budget, Doubling, MaxLength, Request, step


def test_chains_double_while_the_draft_is_right_and_shrink_where_it_is_not() -> None:
    (prompt,) = toy.prompts([5], seed=3)
    truth = toy.greedy(prompt, 200)
    draft = [*truth[:100], *([truth[100] + 1] * 60)]
    target = toy.ToyTarget()
    (state,) = target.open([prompt])
    controller = Doubling(Budget(chain=8, nodes=8, depth=8), least=4, most=32)
    request = Request(state, AlignedText([draft]), [MaxLength(120)], controller=controller)
    lengths = []
    while request.finished is None:
        lengths.append(controller.plan().chain)
        step(target, [request])
    assert lengths[:4] == [8, 16, 32, 32]
    assert lengths[-1] <= 8
    assert request.output == truth[:120]
