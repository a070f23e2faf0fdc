import { isObject, type JsonObject } from "../../../domain/json.ts";
import type { PermissionOption, PermissionQuestion } from "./permission-question.ts";

/** What somebody says to a question. */
export type PermissionReply =
  /** This call, and no other. */
  | "allow"
  /** This call and those like it, as far as the option says; this call alone where there is no such option. */
  | "always"
  | "deny"
  /** One of the question's options, by its id. */
  | { readonly option: string }
  /** This call, with other arguments. */
  | { readonly allow: JsonObject }
  | { readonly deny: string };

/** The result of `session/request_permission`; `problem` says why it is an answer that nobody gave. */
export interface PermissionResult {
  readonly result: JsonObject;
  readonly problem?: string;
}

/** Whatever cannot be said with the options that there are is no approval. */
export function permissionResult(
  question: PermissionQuestion,
  reply: PermissionReply,
): PermissionResult {
  if (reply === "deny") return refused(question);
  if (reply === "allow") return allowed(question, onceOption(question));
  if (reply === "always") return allowed(question, alwaysOption(question));
  if ("option" in reply) return chosen(question, reply.option);
  if ("deny" in reply) return refused(question, reply.deny);
  // Whoever has no types can hand in anything.
  return isObject(reply.allow)
    ? rewritten(question, reply.allow)
    : undecidedResult(question, "The arguments are no object");
}

/** The turn that asks is cancelled, and the question with it. */
export function putAwayResult(): JsonObject {
  return { outcome: CANCELLED };
}

/** What is answered where nobody decided. */
export function undecidedResult(question: PermissionQuestion, problem: string): PermissionResult {
  return { result: denied(question, problem), problem };
}

function chosen(question: PermissionQuestion, id: string): PermissionResult {
  const isOffered = question.options.some((option) => option.id === id);
  return isOffered
    ? { result: selected(id) }
    : undecidedResult(question, `The option ${JSON.stringify(id)} was not offered`);
}

function allowed(
  question: PermissionQuestion,
  option: PermissionOption | undefined,
): PermissionResult {
  if (option !== undefined) return { result: selected(option.id) };
  // A bridge that offers nothing to choose from takes a bare yes.
  if (question.options.length === 0) return { result: { outcome: { outcome: "selected" } } };
  return undecidedResult(question, notChosen("yes", question));
}

function refused(question: PermissionQuestion, reason?: string): PermissionResult {
  const result = denied(question, reason);
  return question.isYesOrNo ? { result } : { result, problem: notChosen("no", question) };
}

function notChosen(said: "yes" | "no", { options }: PermissionQuestion): string {
  const ids = options.map(({ id }) => id).join(", ");
  return `A plain ${said} does not say which of the options is meant: ${ids}`;
}

/** An agent that does not know of other arguments would run the call with its own. */
function rewritten(question: PermissionQuestion, args: JsonObject): PermissionResult {
  if (!question.isBridge) {
    return undecidedResult(question, "The agent takes no other arguments");
  }
  const { result, problem } = allowed(question, onceOption(question));
  return problem === undefined
    ? { result: { ...result, granted: true, args } }
    : { result, problem };
}

function onceOption({ options, isYesOrNo }: PermissionQuestion): PermissionOption | undefined {
  return isYesOrNo ? options.find(({ kind }) => kind === "allow_once") : undefined;
}

function alwaysOption(question: PermissionQuestion): PermissionOption | undefined {
  const always = question.options.filter(({ kind }) => kind === "allow_always");
  return always.length === 1 ? always[0] : onceOption(question);
}

/**
 * A no. Where the question is not about yes or no, as when it asks what became of a tool, it is put away: an option that is
 * called a rejection would say something that nobody knows.
 */
function denied(question: PermissionQuestion, reason?: string): JsonObject {
  const { options, isBridge, isYesOrNo } = question;
  const rejecting =
    options.find(({ kind }) => kind === "reject_once") ??
    options.find(({ kind }) => kind === "reject_always");
  const answer =
    rejecting !== undefined && isYesOrNo ? selected(rejecting.id) : { outcome: CANCELLED };
  if (!isBridge || !isYesOrNo) return answer;
  return { ...answer, granted: false, ...(reason !== undefined && { reason }) };
}

function selected(optionId: string): JsonObject {
  return { outcome: { outcome: "selected", optionId } };
}

const CANCELLED: JsonObject = { outcome: "cancelled" };
