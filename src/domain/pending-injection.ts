import type { InjectMode } from "./events/steering-events.ts";
import type { PromptPart } from "./prompt.ts";
import type { Reminder } from "./reminder.ts";
import type { SessionCommand, SubmittedPart } from "./session-command.ts";

/** A message or reminder which waits for an injection point, as clients see it. */
export type PendingInjectionView =
  | {
      readonly kind: "user";
      readonly id: string;
      readonly mode: InjectMode;
      readonly content: readonly PromptPart[];
    }
  | { readonly kind: "reminder"; readonly id: string; readonly reminder: Reminder };

/** Why a change of an injection is refused. */
export type InjectionRefusal =
  | "already_delivered"
  | "already_revoked"
  | "unknown_message_id"
  | "not_owner_or_not_authorized";

/** The reason of a sender who may not change an injection. */
export const NOT_AUTHORIZED: InjectionRefusal = "not_owner_or_not_authorized";

/** A command which changes an injection that is already accepted. */
export type InjectionChange<Part = SubmittedPart> = Extract<
  SessionCommand<Part>,
  { readonly type: "replace-inject" | "revoke-inject" | "revoke-reminder" }
>;

export function isInjectionChange<Part>(
  command: SessionCommand<Part>,
): command is InjectionChange<Part> {
  return ["replace-inject", "revoke-inject", "revoke-reminder"].includes(command.type);
}
