import type { MouseEvent, ReactNode } from "react";
import type { InboxItem } from "../../wire/live/live-frames.ts";
import { Icon, type IconName } from "../parts/icons.tsx";
import { RelativeTime } from "../parts/time.tsx";
import { UntrustedText } from "../parts/untrusted-text.tsx";
import type { ApprovalChoice } from "../state/session-actions.ts";
import { nameSession } from "./inbox-list.ts";
import { CountdownLabel } from "./request/countdown-label.tsx";
import type { DecisionStatus } from "./request/decision-log.ts";
import { describeRequest } from "./request/describe-request.ts";
import { getRequestKind, nameRequest, type RequestKind } from "./request/open-request.ts";
import type { Decider } from "./request/request-choices.ts";
import { RequestFacts } from "./request/request-details.tsx";
import { RequestForm, type RequestPanel } from "./request/request-form.tsx";

export interface InboxCardProps {
  readonly item: InboxItem;
  readonly decider: Decider;
  readonly status: DecisionStatus | undefined;
  readonly isCurrent: boolean;
  readonly isSelected: boolean;
  /** False if the list has a single card. */
  readonly isSelectable: boolean;
  readonly isHeld: boolean;
  readonly panel: RequestPanel | null;
  readonly sessionHref: string;
  /** The title of the session is the heading of the group. */
  readonly hasSession: boolean;
  readonly onPanel: (panel: RequestPanel | null) => void;
  readonly onSelect: () => void;
  readonly onOpenSession: () => void;
  readonly onChoose: (choice: ApprovalChoice, label: string) => void;
  readonly onDismiss: () => void;
}

const ICONS: { readonly [Kind in RequestKind]: IconName } = {
  tool: "tool",
  question: "person",
  interrupted: "warning",
  lost: "blocked",
  budget: "pause",
};

/** A request of the inbox. */
export function InboxCard(props: InboxCardProps): ReactNode {
  const { item, decider, status, isCurrent, isSelected, isHeld } = props;
  const { key, request } = item;
  const sentence = describeRequest(request);
  const Heading = props.hasSession ? "h2" : "h3";
  return (
    <section
      className="inbox-card"
      data-card={key}
      data-kind={getRequestKind(request)}
      data-current={isCurrent}
      data-selected={isSelected}
      data-phase={status?.phase ?? "open"}
      tabIndex={-1}
      aria-label={`${sentence.slice(0, 200)} ${nameRequest(request)} needs a decision`}
      aria-current={isCurrent}
    >
      <CardHead {...props} />
      <Heading className="inbox-sentence">
        <UntrustedText text={sentence} kind="prose" />
      </Heading>
      <RequestFacts open={item} />
      <RequestForm
        open={item}
        decider={decider}
        status={status}
        panel={props.panel}
        isHeld={isHeld}
        hasKeys={isCurrent}
        onPanel={props.onPanel}
        onChoose={props.onChoose}
        onDismiss={props.onDismiss}
      />
    </section>
  );
}

function CardHead({
  item,
  decider,
  isSelected,
  isSelectable,
  sessionHref,
  hasSession,
  onSelect,
  onOpenSession,
}: InboxCardProps): ReactNode {
  const { request, agent, requestedAt, principal } = item;
  const openSession = (event: MouseEvent): void => {
    // A click with a modifier opens a tab or a window, as for any link.
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    onOpenSession();
  };
  return (
    <div className="inbox-head">
      {isSelectable && (
        <label className="inbox-select">
          <input type="checkbox" checked={isSelected} onChange={onSelect} />
          <span className="inbox-hidden">Select this request</span>
        </label>
      )}
      <span className="inbox-kind">
        <Icon name={ICONS[getRequestKind(request)]} />
        {nameRequest(request)}
      </span>
      <span className="inbox-origin">
        {hasSession && (
          <a href={sessionHref} onClick={openSession}>
            <UntrustedText text={nameSession(item)} />
          </a>
        )}
        <span className="inbox-agent">
          <UntrustedText text={agent} />
        </span>
        {principal !== "local" && (
          <span className="inbox-agent">
            for <UntrustedText text={principal} />
          </span>
        )}
        <RelativeTime at={requestedAt - (decider.timeOffset ?? 0)} />
      </span>
      <CountdownLabel request={request} timeOffset={decider.timeOffset ?? 0} />
    </div>
  );
}
