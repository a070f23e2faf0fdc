import type { ReactNode } from "react";
import { toJsonText } from "../../../data/json.ts";
import type { Handoff } from "../../../domain/outputs/handoff.ts";
import { Badge } from "../../parts/badge.tsx";
import { Fold } from "../../parts/fold.tsx";
import { Icon } from "../../parts/icons.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import type { HandoffItem } from "../../state/session-view.ts";
import { useOpenCard, useThread } from "../thread-context.tsx";
import { OutputFacts, type OutputFact } from "./output-facts.tsx";

/** Work which the agent handed over to a person or to another agent. */
export function HandoffCard({ item }: { readonly item: HandoffItem }): ReactNode {
  const { actions } = useThread();
  const [isOpen, setOpen] = useOpenCard(item.key, true);
  const { target_persona_or_human: target, task } = item.handoff;
  return (
    <div className="thread-tool thread-output">
      <Fold
        isOpen={isOpen}
        onToggle={setOpen}
        summary={
          <>
            <Icon name="handoff" />
            <span className="thread-tool-name">
              Handoff to <UntrustedText text={target.label} />
            </span>
            <span className="thread-tool-about">
              {!isOpen && <UntrustedText text={task.slice(0, 200)} />}
            </span>
            <Badge>{target.kind === "human" ? "person" : "agent"}</Badge>
          </>
        }
        actions={
          <a
            className="part-text-button"
            href={actions.artifactUrl(item.artifactId)}
            download
            aria-label={`Download the handoff to ${target.label.slice(0, 100)}`}
          >
            Download
          </a>
        }
      >
        <OutputFacts facts={listFacts(item.handoff)} />
      </Fold>
    </div>
  );
}

function listFacts(handoff: Handoff): readonly OutputFact[] {
  const { budget_remaining: budget, confidence, route_decision: route, metadata } = handoff;
  const evidence = handoff.evidence_refs.map((ref) =>
    typeof ref === "string" ? ref : toJsonText(ref),
  );
  return [
    { name: "Task", content: handoff.task },
    { name: "Reason", content: handoff.reason },
    { name: "Open questions", content: handoff.open_questions },
    { name: "Blocked on", content: handoff.blocked_on },
    { name: "Files and entities", content: handoff.files_or_entities_touched },
    { name: "Evidence", content: evidence },
    { name: "Requested capabilities", content: handoff.requested_capabilities },
    { name: "Allowed side effects", content: handoff.allowed_side_effects },
    { name: "Remaining budget", content: budget === null ? "" : toJsonText(budget) },
    { name: "Report back", content: handoff.deadline_checkback ?? "" },
    { name: "Confidence", content: confidence === null ? "" : `${Math.round(100 * confidence)} %` },
    { name: "Receipts", content: handoff.receipt_links },
    { name: "Route", content: route === null ? "" : toJsonText(route) },
    { name: "Metadata", content: Object.keys(metadata).length === 0 ? "" : toJsonText(metadata) },
  ];
}
