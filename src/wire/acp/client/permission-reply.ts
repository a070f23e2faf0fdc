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

/** The result of `session/request_permission`; `problem` says why it is a no that nobody said. */
export interface PermissionResult {
  readonly result: JsonObject;
  readonly problem?: string;
}

/** Whatever cannot be said with the options that there are is no approval. */
export function permissionResult(
  question: PermissionQuestion,
  reply: PermissionReply,
): PermissionResult {
  if (reply === "deny") return { result: denied(question) };
  if (reply === "allow") return allowed(question, onceOption(question));
  if (reply === "always") return allowed(question, alwaysOption(question));
  if ("option" in reply) return chosen(question, reply.option);
  if ("deny" in reply) return { result: denied(question, reply.deny) };
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
  return undecidedResult(question, "A plain yes says not which of the options is meant");
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

/** Two of them are an answer to another question than yes or no, and a plain yes is neither. */
function onceOption(question: PermissionQuestion): PermissionOption | undefined {
  const once = onceOptions(question);
  return once.length === 1 ? once[0] : undefined;
}

function onceOptions({ options }: PermissionQuestion): readonly PermissionOption[] {
  return options.filter(({ kind }) => kind === "allow_once");
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
  const { options, isBridge } = question;
  const rejecting =
    options.find(({ kind }) => kind === "reject_once") ??
    options.find(({ kind }) => kind === "reject_always");
  const isYesOrNo = onceOptions(question).length <= 1;
  const answer =
    rejecting !== undefined && isYesOrNo ? selected(rejecting.id) : { outcome: CANCELLED };
  if (!isBridge || !isYesOrNo) return answer;
  return { ...answer, granted: false, ...(reason !== undefined && { reason }) };
}

function selected(optionId: string): JsonObject {
  return { outcome: { outcome: "selected", optionId } };
}

const CANCELLED: JsonObject = { outcome: "cancelled" };
