import type { ReactNode } from "react";
import type { JsonValue } from "../../../data/json.ts";
import { Spinner, KeyHint } from "../../parts/badge.tsx";
import { Icon } from "../../parts/icons.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import type { ApprovalChoice } from "../../state/session-actions.ts";
import type { DecisionStatus } from "./decision-log.ts";
import { ArgumentEditor, DenyPanel } from "./decision-panels.tsx";
import type { OpenRequest } from "./open-request.ts";
import { QuestionFields } from "./question-fields.tsx";
import {
  findBlockReason,
  findDenial,
  isEditable,
  listRequestChoices,
  nameDecision,
  needsAnswer,
  type Decider,
  type RequestChoice,
} from "./request-choices.ts";
import { hasVoted } from "./describe-request.ts";

export type RequestPanel = "deny" | "edit";

export interface RequestFormProps {
  readonly open: OpenRequest;
  readonly decider: Decider;
  readonly status: DecisionStatus | undefined;
  readonly panel: RequestPanel | null;
  readonly onPanel: (panel: RequestPanel | null) => void;
  /** `label`: the choice in words, for the status and the history. */
  readonly onChoose: (choice: ApprovalChoice, label: string) => void;
  readonly onDismiss: () => void;
  /** The card has just moved: the next press may be meant for another card. */
  readonly isHeld?: boolean;
  /** Shows the keys of the inbox on the buttons. */
  readonly hasKeys?: boolean;
}

/** The controls of a request. */
export function RequestForm(props: RequestFormProps): ReactNode {
  const { open, status, panel, onPanel, onChoose, onDismiss } = props;
  const { request } = open;
  if (status !== undefined && status.phase !== "failed") return <SettlingNote status={status} />;
  const close = (): void => onPanel(null);
  const denial = findDenial(request);
  return (
    <div className="request-controls">
      {status?.phase === "failed" && <DecisionError status={status} onDismiss={onDismiss} />}
      {panel === "deny" && denial !== undefined ? (
        <DenyPanel
          label={nameDecision(request, denial)}
          onClose={close}
          onDeny={(reason) =>
            onChoose(
              { decision: denial, ...(reason !== undefined && { reason }) },
              nameDecision(request, denial),
            )
          }
        />
      ) : panel === "edit" ? (
        <ArgumentEditor
          input={request.input}
          onClose={close}
          onAllow={(input) => onChoose({ decision: "allow", input }, "Allow with edited arguments")}
        />
      ) : (
        <RequestButtons {...props} />
      )}
    </div>
  );
}

function RequestButtons({
  open,
  decider,
  onPanel,
  onChoose,
  isHeld = false,
  hasKeys = false,
}: RequestFormProps): ReactNode {
  const { request } = open;
  const { form } = request;
  const blockReason = findBlockReason(decider);
  const heldReason = isHeld
    ? "The page moved just now. Wait a moment, then press again"
    : undefined;
  const press = (choice: RequestChoice): void => {
    if (heldReason !== undefined || choice.disabledReason !== undefined) return;
    if (choice.tone === "danger") return onPanel("deny");
    onChoose({ decision: choice.decision }, choice.label);
  };
  const voted = hasVoted(open, decider.principal) ? "You have answered already" : undefined;
  const buttons = (
    <>
      {listRequestChoices(open, decider).map((choice) => (
        <ChoiceButton
          key={choice.decision}
          choice={choice}
          disabledReason={choice.disabledReason ?? heldReason}
          hasKey={hasKeys}
          onPress={() => press(choice)}
        />
      ))}
      {isEditable(request) && (
        <EditButton
          disabledReason={blockReason ?? heldReason}
          hasKey={hasKeys}
          onPress={() => onPanel("edit")}
        />
      )}
    </>
  );
  return (
    <div className="request-decision" data-held={isHeld}>
      {form !== undefined && needsAnswer(request) ? (
        <QuestionFields
          question={form}
          disabledReason={blockReason ?? voted ?? heldReason}
          onAnswer={(answer) => onChoose({ decision: "answer", answer }, nameAnswer(answer))}
        >
          {buttons}
        </QuestionFields>
      ) : (
        <div className="request-actions">{buttons}</div>
      )}
      {blockReason !== undefined && <p className="request-note">{blockReason}</p>}
    </div>
  );
}

function nameAnswer(answer: JsonValue): string {
  if (typeof answer !== "string") return "Answer";
  return `Answer: ${answer.length <= 60 ? answer : `${answer.slice(0, 59)}…`}`;
}

function EditButton({
  disabledReason,
  hasKey,
  onPress,
}: {
  readonly disabledReason: string | undefined;
  readonly hasKey: boolean;
  readonly onPress: () => void;
}): ReactNode {
  return (
    <button
      type="button"
      className="request-button"
      aria-disabled={disabledReason !== undefined}
      title={disabledReason}
      onClick={() => {
        if (disabledReason === undefined) onPress();
      }}
    >
      <Icon name="edit" />
      Edit {hasKey && <KeyHint keys="e" />}
    </button>
  );
}

function ChoiceButton({
  choice,
  disabledReason,
  hasKey,
  onPress,
}: {
  readonly choice: RequestChoice;
  readonly disabledReason: string | undefined;
  readonly hasKey: boolean;
  readonly onPress: () => void;
}): ReactNode {
  const { label, scope, tone, key, decision } = choice;
  return (
    <button
      type="button"
      className={`request-button request-${tone}`}
      data-decision={decision}
      // A disabled button would lose the focus and could not say why.
      aria-disabled={disabledReason !== undefined}
      title={disabledReason ?? scope}
      onClick={onPress}
    >
      <span className="request-button-label">
        {label}
        {scope !== undefined && (
          <span className="request-scope">
            {" "}
            <UntrustedText text={scope} />
          </span>
        )}
      </span>
      {hasKey && key !== undefined && <KeyHint keys={key} />}
    </button>
  );
}

function SettlingNote({
  status,
}: {
  readonly status: Exclude<DecisionStatus, { readonly phase: "failed" }>;
}): ReactNode {
  const isSending = status.phase === "sending";
  return (
    <output className="request-settling">
      {isSending ? <Spinner /> : <Icon name="check" />}
      <UntrustedText text={status.label} />
      <span className="request-muted">{isSending ? "sending…" : "sent"}</span>
    </output>
  );
}

function DecisionError({
  status,
  onDismiss,
}: {
  readonly status: Extract<DecisionStatus, { readonly phase: "failed" }>;
  readonly onDismiss: () => void;
}): ReactNode {
  const { message, hint } = status.error;
  return (
    <div className="request-error" role="alert">
      <Icon name="warning" />
      <span>
        <UntrustedText text={message} kind="prose" />
        {hint !== undefined && (
          <span className="request-error-hint">
            <UntrustedText text={hint} kind="prose" />
          </span>
        )}
      </span>
      <button
        type="button"
        className="request-close"
        aria-label="Close the error"
        onClick={onDismiss}
      >
        <Icon name="cross" />
      </button>
    </div>
  );
}
