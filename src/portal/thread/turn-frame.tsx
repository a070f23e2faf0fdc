import type { ReactNode } from "react";
import {
  countInput,
  explainEnd,
  measureTurn,
  OUTCOME_TEXTS,
  STAGE_TEXTS,
  suggestFix,
} from "./describe-turn.ts";
import { resendMessage } from "./resend-message.ts";
import { ActionError, useAction, useThread } from "./thread-context.tsx";
import { Spinner } from "../parts/badge.tsx";
import { ClockTime, ElapsedTime } from "../parts/time.tsx";
import { formatCount } from "../parts/format-amount.ts";
import { Icon, type IconName } from "../parts/icons.tsx";
import { UntrustedText } from "../parts/untrusted-text.tsx";
import { formatDuration } from "../../text/format-duration.ts";
import { pluralize } from "../../text/pluralize.ts";
import type { TurnEnd, TurnView } from "../state/session-view.ts";
import type { TurnOutcome } from "../../domain/events/turn-events.ts";

/** The first row of a turn: who submitted the prompt, and when. */
export function TurnHead({
  turn,
  number,
}: {
  readonly turn: TurnView;
  readonly number: number;
}): ReactNode {
  const isOwnStart = !turn.items.some(({ kind }) => kind === "user");
  return (
    <div className="thread-head">
      <h2>
        <Icon name={isOwnStart ? "clock" : "person"} />
        <span className="part-hidden">Turn {number}: </span>
        {turn.principal === null ? (
          <span>{isOwnStart ? "The agent started by itself" : "Prompt"}</span>
        ) : (
          <UntrustedText text={turn.principal} />
        )}
      </h2>
      <ClockTime at={turn.startedAt} />
    </div>
  );
}

/** The last row of a turn: its stage while it runs, then its outcome and its costs. */
export function TurnFoot({ turn }: { readonly turn: TurnView }): ReactNode {
  const { end } = turn;
  if (end === null)
    return (
      <div className="thread-foot" data-running="true">
        {turn.stage === "person" ? <Icon name="pause" /> : <Spinner />}
        <span className="thread-foot-stage">{STAGE_TEXTS[turn.stage]}</span>
        <span>
          <ElapsedTime from={turn.startedAt} />
        </span>
        <UsageText turn={turn} />
      </div>
    );
  return (
    <>
      {end.outcome !== "completed" && <TurnProblem turn={turn} end={end} />}
      <div className="thread-foot">
        <span className={`thread-status part-tone-${OUTCOME_TONES[end.outcome]}`}>
          <Icon name={OUTCOME_ICONS[end.outcome]} />
        </span>
        <span>{OUTCOME_TEXTS[end.outcome]}</span>
        <span>{formatDuration(measureTurn(turn, end.at))}</span>
        <span>{pluralize(end.steps, "model call")}</span>
        <UsageText turn={turn} />
      </div>
    </>
  );
}

const OUTCOME_TONES: { readonly [Outcome in TurnOutcome]: string } = {
  completed: "good",
  cancelled: "neutral",
  limited: "warning",
  failed: "danger",
};

const OUTCOME_ICONS: { readonly [Outcome in TurnOutcome]: IconName } = {
  completed: "check",
  cancelled: "blocked",
  limited: "warning",
  failed: "cross",
};

function UsageText({ turn }: { readonly turn: TurnView }): ReactNode {
  const usage = turn.end?.usage ?? turn.usage;
  if (usage === null) return null;
  const { cacheReadTokens, outputTokens } = usage;
  const cached = cacheReadTokens === 0 ? "" : `, ${formatCount(cacheReadTokens)} from the cache`;
  return (
    <span title={`Tokens: ${countInput(usage)} in${cached}, ${outputTokens} out`}>
      {formatCount(countInput(usage))} in · {formatCount(outputTokens)} out
    </span>
  );
}

/** Why a turn did not complete, what to do, and a button to send the prompt again. */
function TurnProblem({ turn, end }: { readonly turn: TurnView; readonly end: TurnEnd }): ReactNode {
  const { actions } = useThread();
  const running = useAction();
  const explanation = explainEnd(end);
  const prompt = turn.items.find((item) => item.kind === "user");
  if (explanation === undefined && end.outcome === "cancelled") return null;
  const fix = end.failure === undefined ? undefined : suggestFix(end.failure.code);
  return (
    <div className="thread-problem" data-outcome={end.outcome}>
      <p>
        <UntrustedText text={explanation ?? OUTCOME_TEXTS[end.outcome]} />
      </p>
      {fix !== undefined && <p className="part-muted">{fix}</p>}
      {prompt?.kind === "user" && (
        <button
          type="button"
          className="part-button"
          disabled={running.isRunning}
          onClick={() => running.run(() => resendMessage(actions, prompt.content))}
        >
          <Icon name="retry" />
          Send the prompt again
        </button>
      )}
      <ActionError error={running.error} />
    </div>
  );
}
