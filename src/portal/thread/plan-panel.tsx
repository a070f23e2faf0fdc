import { useState, type ReactNode } from "react";
import { Fold } from "../parts/fold.tsx";
import { Icon, type IconName } from "../parts/icons.tsx";
import { OutputFacts } from "./items/output-facts.tsx";
import { UntrustedText } from "../parts/untrusted-text.tsx";
import type { PlanStatus } from "../../domain/outputs/plan.ts";
import type { SessionView } from "../state/session-view.ts";

/** The agent's plan: its progress and the present step in one line, all steps when open. */
export function PlanPanel({ view }: { readonly view: SessionView }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const { plan: entries, planDetails } = view;
  const relevant = entries.filter(({ status }) => status !== "cancelled");
  const done = relevant.filter(({ status }) => status === "completed").length;
  const current = entries.find(({ status }) => status === "in_progress");
  return (
    <section className="thread-plan" aria-label="Plan">
      <Fold
        isOpen={isOpen}
        onToggle={setOpen}
        summary={
          <>
            <span className="thread-tool-name">
              <UntrustedText text={planDetails?.title ?? "Plan"} />
            </span>
            <progress max={Math.max(1, relevant.length)} value={done} aria-label="Finished steps" />
            <span className="part-muted">
              {done} of {relevant.length}
            </span>
            <span className="thread-tool-about thread-plan-current">
              {current !== undefined && !isOpen && <UntrustedText text={current.content} />}
            </span>
          </>
        }
      >
        <ul>
          {entries.map(({ content, status, priority }, index) => (
            <li key={index} data-status={status}>
              <Icon name={STATUS_ICONS[status]} />
              <span>
                <span className="part-hidden">{STATUS_TEXTS[status]}: </span>
                <UntrustedText text={content} />
              </span>
              {priority === "high" && <span className="part-note">high priority</span>}
            </li>
          ))}
        </ul>
        {planDetails !== null && (
          <OutputFacts
            facts={[
              // A plan without steps has its summary as the only entry.
              {
                name: "Summary",
                content: planDetails.steps.length === 0 ? "" : planDetails.summary,
              },
              { name: "Assumptions", content: planDetails.assumptions },
              { name: "Open questions", content: planDetails.open_questions },
              { name: "Verification", content: planDetails.verification_commands },
            ]}
          />
        )}
      </Fold>
    </section>
  );
}

const STATUS_ICONS: { readonly [Status in PlanStatus]: IconName } = {
  pending: "empty",
  in_progress: "chevron",
  completed: "check",
  blocked: "pause",
  cancelled: "cross",
};

const STATUS_TEXTS: { readonly [Status in PlanStatus]: string } = {
  pending: "open",
  in_progress: "in progress",
  completed: "done",
  blocked: "blocked",
  cancelled: "cancelled",
};
