import { isObject, toJsonText } from "../../data/json.ts";
import type { ApprovalView, ToolItem } from "../state/session-view.ts";
import type { ToolEnding } from "../../domain/events/tool-events.ts";
import type { PolicyDecision } from "../../domain/policy/policy-decision.ts";

export interface ToolStatus {
  readonly label: string;
  readonly tone: "neutral" | "good" | "warning" | "danger" | "accent";
  /** The tool call is being prepared or runs. */
  readonly isBusy: boolean;
}

/** Describes the stage or the ending of a tool call in a few words. */
export function describeToolStatus(item: ToolItem): ToolStatus {
  if (item.ending !== null) return ENDINGS[item.ending];
  return STAGES[item.stage];
}

const ENDINGS: { readonly [Ending in ToolEnding]: ToolStatus } = {
  succeeded: { label: "done", tone: "good", isBusy: false },
  server: { label: "done by the provider", tone: "good", isBusy: false },
  failed: { label: "failed", tone: "danger", isBusy: false },
  denied: { label: "denied", tone: "danger", isBusy: false },
  cancelled: { label: "cancelled", tone: "neutral", isBusy: false },
  "timed-out": { label: "timed out", tone: "danger", isBusy: false },
  refused: { label: "could not run", tone: "danger", isBusy: false },
  unknown: { label: "outcome unknown", tone: "warning", isBusy: false },
};

const STAGES: { readonly [Stage in ToolItem["stage"]]: ToolStatus } = {
  streaming: { label: "preparing", tone: "neutral", isBusy: true },
  received: { label: "checking the rules", tone: "neutral", isBusy: true },
  waiting: { label: "needs a decision", tone: "warning", isBusy: false },
  allowed: { label: "allowed", tone: "neutral", isBusy: true },
  running: { label: "running", tone: "accent", isBusy: true },
  host: { label: "waits for its client to return", tone: "warning", isBusy: true },
  ended: { label: "ended", tone: "neutral", isBusy: false },
};

/** Whether a card is open by default: for a running tool call, and if people should look at the result. */
export function isToolNotable(item: ToolItem): boolean {
  if (item.ending === null) return item.stage !== "streaming" && item.stage !== "received";
  return NOTABLE_ENDINGS.has(item.ending) || item.problem !== undefined;
}

const NOTABLE_ENDINGS: ReadonlySet<ToolEnding> = new Set<ToolEnding>([
  "failed",
  "denied",
  "timed-out",
  "refused",
  "unknown",
]);

/** Describes a tool call by its most telling argument, or by all of them. */
export function describeToolInput({ call, inputText, editedInput }: ToolItem): string {
  const input: unknown = editedInput ?? call?.input ?? null;
  if (!isObject(input)) return shorten(inputText);
  for (const name of DESCRIPTIVE_ARGUMENTS) {
    const value = Object.hasOwn(input, name) ? input[name] : undefined;
    if (typeof value === "string" && value !== "") return shorten(value);
  }
  const values = Object.values(input);
  const [only] = values;
  if (values.length === 1 && typeof only === "string") return shorten(only);
  return values.length === 0 ? "" : shorten(toJsonText(input));
}

const DESCRIPTIVE_ARGUMENTS = [
  "command",
  "pattern",
  "query",
  "url",
  "question",
  "task",
  "path",
  "file_path",
  "title",
  "message",
];

function shorten(text: string): string {
  const line = text.slice(0, 300).trim().replaceAll(/\s+/g, " ");
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}

/** Describes a policy decision and its rule, such as `Allowed by rules[2] "read files"`. */
export function describeDecision({ action, rule }: PolicyDecision): string {
  const verb = { allow: "Allowed", ask: "Needs approval", deny: "Denied" }[action];
  if (rule === null) return `${verb} by default`;
  const name = rule.id === null ? "" : ` “${rule.id}”`;
  const entry = rule.source.startsWith("default_") ? rule.source : `${rule.source}[${rule.index}]`;
  return `${verb} by ${entry}${name}`;
}

/** Describes how a request to people ended. */
export function describeResolution({ request, resolution }: ApprovalView): string {
  if (resolution === null) return "Waits for a decision";
  const { decision, resolvedBy, decidedBy, principals } = resolution;
  if (resolvedBy === "deadline") return "No decision before the deadline: nothing was allowed";
  if (resolvedBy === "cancel") return "Closed: the turn was cancelled";
  if (resolvedBy === "change") return "Closed: the rules, the mode or the tool changed";
  const people = principals ?? (decidedBy === null ? [] : [decidedBy]);
  const by = people.length === 0 ? "" : ` by ${people.join(", ")}`;
  return `${DECISION_TEXTS[decision]}${by}${request.grantLabel !== undefined && decision === "allow-always" ? `: ${request.grantLabel}` : ""}`;
}

const DECISION_TEXTS: {
  readonly [Decision in NonNullable<ApprovalView["resolution"]>["decision"]]: string;
} = {
  allow: "Allowed",
  "allow-always": "Always allowed",
  deny: "Denied",
  done: "Confirmed as done",
  failed: "Confirmed as failed",
  "run-again": "Run again",
  continue: "Continued",
  reseed: "Started over",
  stop: "Stopped",
  answer: "Answered",
  decline: "Declined",
};
