/**
 * How much a session lets its tools do, within what its policy allows. From the widest to the narrowest:
 *
 * - `default`: the rules decide.
 * - `ask`: every call that is not read-only is asked about, also where the rules or a grant allow it.
 * - `read-only`: calls that are not read-only are refused.
 */
export const SESSION_MODES = ["default", "ask", "read-only"] as const;

export type SessionMode = (typeof SESSION_MODES)[number];

export function isSessionMode(value: unknown): value is SessionMode {
  return SESSION_MODES.some((mode) => mode === value);
}

/** Whether less is asked or refused in a mode than in another one. */
export function isLessStrict(mode: SessionMode, other: SessionMode): boolean {
  return SESSION_MODES.indexOf(mode) < SESSION_MODES.indexOf(other);
}

/** What people read of each. */
export const MODE_DESCRIPTIONS: {
  readonly [Mode in SessionMode]: { readonly name: string; readonly description: string };
} = {
  default: {
    name: "Default",
    description: "The policy decides which calls run and which are asked about",
  },
  ask: { name: "Ask", description: "Every call that does more than read is asked about" },
  "read-only": {
    name: "Read-only",
    description: "Only calls that read are run; all others are refused",
  },
};

/** The part of a policy that a mode would be, if it were one. */
export const MODE_SOURCE = "session_mode";
