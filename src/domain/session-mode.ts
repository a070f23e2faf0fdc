/**
 * Restricts the tools of a session further than its policy does. From the widest to the narrowest:
 *
 * - `default`: the rules decide.
 * - `ask`: every call that is not read-only needs an approval, even if a rule or a grant allows it.
 * - `read-only`: calls that are not read-only are denied.
 */
export const SESSION_MODES = ["default", "ask", "read-only"] as const;

export type SessionMode = (typeof SESSION_MODES)[number];

export function isSessionMode(value: unknown): value is SessionMode {
  return SESSION_MODES.some((mode) => mode === value);
}

/** Whether `mode` allows more without asking than `other`. */
export function isLessStrict(mode: SessionMode, other: SessionMode): boolean {
  return SESSION_MODES.indexOf(mode) < SESSION_MODES.indexOf(other);
}

/** The narrower of two modes. */
export function selectStricterMode(mode: SessionMode, other: SessionMode): SessionMode {
  return isLessStrict(mode, other) ? other : mode;
}

/** Names and descriptions shown to people. */
export const MODE_DESCRIPTIONS: {
  readonly [Mode in SessionMode]: { readonly name: string; readonly description: string };
} = {
  default: {
    name: "Default",
    description: "The policy decides which tool calls run and which need approval",
  },
  ask: { name: "Ask", description: "Every tool call that does more than read needs approval" },
  "read-only": {
    name: "Read-only",
    description: "Only tool calls that read are run; all others are denied",
  },
};

/** `source` of the rule recorded in a policy decision made by the session mode. */
export const MODE_SOURCE = "session_mode";
