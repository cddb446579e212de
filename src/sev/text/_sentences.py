"""Explanations as plain sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sev.core import Status
from sev.text._letters import name_for_letter
from sev.text._reference_names import tell_reference
from sev.text._statements import EnoughRange, Statement
from sev.text._vocabulary import Vocabulary
from sev.typing import Row


class Speaker(Vocabulary):
    """Turns explanations into sentences of one language.

    Parameters
    ----------
    columns : mapping of str to tuple
        The columns of each feature.
    wording : path, mapping or None
        How sentences name each feature, in place of ``labels``; see :meth:`sev.Explanation.to_text`.
    language : path, mapping or None
        The sentences; None is the language of ``labels``.
    labels : Labels, default=None
        Names of features and decisions.
    letters : bool, default=False
        Write for the people concerned: without scores, sets and other technical terms.
    """

    def sentence(self, statement: Statement) -> str:
        """One explanation, as a person would say it.

        Parameters
        ----------
        statement : Statement
            The facts.

        Returns
        -------
        str
            One sentence or two.
        """
        text = self._main_sentence(statement)
        more = [one for one in self._further_sentences(statement) if one]
        return " ".join([text[:1].upper() + text[1:], *more])

    def proof(self, statement: Statement, *, beside_sentence: bool = False) -> str:
        """How certain an answer is, and over which features.

        Parameters
        ----------
        statement : Statement
            What is certain.
        beside_sentence : bool, default=False
            Leave out what :meth:`sentence` says, too.

        Returns
        -------
        str
            One sentence; empty where :meth:`sentence` says all of it.
        """
        is_proven = statement.status in (Status.OPTIMAL, Status.UNEXPLAINABLE)
        if beside_sentence and not (is_proven and (statement.features or statement.scope != "tried")):
            return ""
        name = f"proof_{statement.status}"
        if statement.minimise == "cost" and f"{name}_cost" in self._texts:
            name = f"{name}_cost"
        limited = f"{name}_{statement.scope}"
        if self._letters and f"letter_{name}" in self._texts and f"letter_{limited}" not in self._texts:
            limited = name
        texts = [self._fill_text(self._for_letter(limited if limited in self._texts else name, statement))]
        if not beside_sentence:
            if self._is_limited(statement):
                texts.append(self._fill_text("proof_credible", share=self.percent(statement.min_credibility)))
            texts.extend(self._not_permitted(statement))
        return " ".join(text for text in texts if text)

    def _main_sentence(self, statement: Statement) -> str:
        if statement.status is Status.NOT_TARGET:
            return self._tell_decision("not_predicted", statement)
        if statement.status is Status.ERROR:
            return self._fill_text("error", reason=statement.reason)
        predicted = self._tell_decision("predicted", statement)
        if statement.status is Status.UNEXPLAINABLE:
            without = (
                self._fill_text("without", restricted=self._tell_restriction(statement)) if statement.restricted else ""
            )
            names = {"tried": "unexplainable_tried", "changes": "unexplainable_any"}
            name = names.get(statement.scope, "unexplainable")
            if self._is_limited(statement) and statement.scope != "tried":
                name = "unexplainable_credible"
            return self._fill_text(name, predicted=predicted, without=without)
        if not statement.n_sets:
            number = "undecided_one" if statement.lower_bound <= 1 else "undecided_many"
            return self._fill_text(number, predicted=predicted, n=statement.lower_bound)
        if not statement.features:
            return self._fill_text("plus_nothing", predicted=predicted)
        return self._fill_text(
            statement.kind,
            predicted=predicted,
            reasons=self.join([self._make_phrase("is", feature, statement.query) for feature in statement.features]),
            changes=self._tell_changes(statement),
            otherwise=self._tell_decision("otherwise", statement),
        )

    def _further_sentences(self, statement: Statement) -> Iterator[str]:
        if statement.n_sets > 1:
            number = "many" if statement.n_sets > 2 else "one"
            name = f"other_sets_{number if statement.sets_complete else 'at_least'}"
            yield self._fill_text(self._for_letter(name, statement), n=self.count(statement.n_sets - 1))
        if statement.status is Status.UNEXPLAINABLE and statement.searched == "candidates":
            yield self._fill_text("candidates")
        if statement.status is Status.FEASIBLE:
            name = "feasible_cost" if statement.minimise == "cost" else "feasible"
            yield self._fill_text(self._for_letter(name, statement), n=statement.lower_bound)
        yield from self._tell_credibility(statement)
        if statement.compared_with and statement.status not in (Status.NOT_TARGET, Status.ERROR):
            told = tell_reference(statement.compared_with, self, self._wording)
            yield self._fill_text("compared_with", reference=told)
        yield from self._not_permitted(statement)

    @staticmethod
    def _is_limited(statement: Statement) -> bool:
        """Whether results had to be credible, for a row that was explained."""
        return statement.min_credibility > 0 and statement.status not in (Status.NOT_TARGET, Status.ERROR)

    def _tell_credibility(self, statement: Statement) -> Iterator[str]:
        """That the result is credible, and what that costs."""
        if not self._is_limited(statement):
            return
        fewest = statement.size_without_limit
        share = self.percent(statement.min_credibility)
        if statement.features:
            yield self._fill_text("credible", share=share)
        if fewest is not None and fewest != len(statement.features):
            number = "one" if fewest == 1 else "many"
            yield self._fill_text(
                f"{'price' if statement.features else 'not_credible'}_{number}", n=fewest, share=share
            )

    def _not_permitted(self, statement: Statement) -> Iterator[str]:
        if statement.not_permitted != "none":
            yield self._fill_text(self._for_letter(f"not_permitted_{statement.not_permitted}", statement))

    def _tell_decision(self, name: str, statement: Statement) -> str:
        decision, other = self._labels.decision(statement.target), self._labels.decision(statement.other)
        if name not in self._overridden:
            # the better the decision is known, the plainer it can be named
            if name == "otherwise" and other is not None:
                name = "otherwise_decided"
            elif name == "otherwise" and statement.other is not None:
                name = "otherwise_other"
            elif name == "predicted" and decision is not None:
                name = "decided"
            elif name == "not_predicted" and other is not None:
                name = "not_decided"
            if statement.highest is not None and f"{name}_highest" in self._texts:
                name = f"{name}_highest"
        return self._fill_text(
            name,
            by_class=statement.target,
            target=self.decision(statement.target),
            decision=decision or "",
            other=self.decision(statement.other),
            score=self.number(statement.score),
            threshold=self.number(statement.threshold),
            what="" if statement.highest is None else self._texts[f"{statement.highest}_text"],
        )

    def _tell_changes(self, statement: Statement) -> str:
        row = statement.reference
        phrases = []
        for name in statement.features:
            enough = statement.enough.get(name)
            several = self.range_text(name, row, enough, statement.limits)
            # ranges of numbers may need another phrase than a list of values
            is_range = several is not None and isinstance(enough, EnoughRange) and not self._named_values(name, enough)
            phrases.append(self._make_phrase("been", name, row, several, "been_range" if is_range else "been"))
        return self.join(phrases)

    def _make_phrase(
        self,
        name: str,
        feature: str,
        row: Row,
        several: str | None = None,
        general: str | None = None,
    ) -> str:
        """What is said of a feature, with its value in a row or with the text of several values.

        The feature's own phrase ``name`` is used if it has one, else that of the language, or the variant ``general``.
        """
        own = self._wording.get(feature, {}).get(name)
        if isinstance(own, Mapping):  # a phrase for each value has no place for several
            several = None
            own = own.get(self._choose_key(feature, row))
        if own is None:
            variant = name if general is None or several is None else general
            if several is None and self._choose_key(feature, row) is None and f"{name}_missing" in self._texts:
                variant = f"{name}_missing"
            # who sets the phrase of a language sets it for all
            own = self._texts[name if name in self._overridden and variant not in self._overridden else variant]
        value = self._value_in_text(feature, row) if several is None else several
        return str(own.format_map({"label": self.label(feature), "value": value}))

    def _tell_restriction(self, statement: Statement) -> str:
        return self.join([self.label(feature) for feature in statement.restricted])

    def _for_letter(self, name: str, statement: Statement) -> str:
        """The text of a letter for one change, where there is one."""
        return name_for_letter(name, statement, self._texts, self._overridden) if self._letters else name
