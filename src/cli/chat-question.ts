import { isObject } from "../domain/json.ts";
import { MODE_SOURCE } from "../domain/session-mode.ts";
import type { PermissionQuestion, PermissionReply } from "../host/index.ts";
import { oneLine, type Style } from "../inspect/style.ts";
import { questionText, type QuestionFacts } from "./question-text.ts";
import { whyAsked } from "./why-asked.ts";

/** A question as a chat puts it. */
export interface ChatQuestion {
  /** What would be done, why it is asked, and what can be answered. */
  readonly rows: readonly string[];
  /** All of what was shortened. */
  readonly whole: readonly string[] | undefined;
  /** Stands before the answer. */
  readonly prompt: string;
  /** Undefined for what is no answer; "show" for a wish to see all of it. */
  readonly read: (answer: string) => PermissionReply | "show" | undefined;
}

interface Choice {
  readonly key: string;
  /** Whole words that mean the same. */
  readonly words: readonly string[];
  readonly shown: string;
  readonly reply: PermissionReply;
}

export function chatQuestion(asked: PermissionQuestion, style: Style): ChatQuestion {
  const text = questionText(factsOf(asked), style);
  const choices = choicesOf(asked);
  const showKey = freeKey("dv", new Set(choices.map(({ key }) => key))) ?? "show";
  const offered = [
    ...choices.map(({ key, shown }) => `  ${style.strong(key)}  ${shown}`),
    ...(text.whole === undefined ? [] : [`  ${style.strong(showKey)}  Show all of it`]),
  ];
  const keys = [...choices.map(({ key }) => key), ...(text.whole === undefined ? [] : [showKey])];
  return {
    rows: [...linesOf(text.above), ...aboutRule(asked), ...offered],
    whole: text.whole === undefined ? undefined : linesOf(text.whole),
    prompt: `${text.question} [${keys.join("/")}] `,
    read(given) {
      const answer = given.trim().toLowerCase();
      if (text.whole !== undefined && answer === showKey) return "show";
      // Words are the agent's: none answers for nothing, one may be the letter of another choice, and what means two things is no answer.
      if (answer === "") return undefined;
      const keyed = choices.find(({ key }) => answer === key);
      const [meant, ...others] = choices.filter(({ words }) => words.includes(answer));
      return (keyed ?? (others.length === 0 ? meant : undefined))?.reply;
    },
  };
}

function factsOf({ approval, rationale, context, options }: PermissionQuestion): QuestionFacts {
  const { action, args, evidence } = approval;
  // The arguments as they are, where the agent sends them beside those that are cut for the screen.
  const input = isObject(context.input) ? context.input : args;
  const unseen = evidence.find(({ metadata }) => metadata["reason"] !== undefined)?.metadata;
  const isRun = options.length === 0 || isYesOrNo(options);
  const isSaid = isObject(input) && (isRun || Object.keys(input).length > 0);
  const { reason, rule, labels, prompt, risk } = rationale ?? NO_RATIONALE;
  return {
    action,
    input: isSaid ? input : null,
    diffs: context.content.flatMap((one) => (one.type === "diff" ? [one] : [])),
    isRun,
    isRerun: isRun && approval.attempt > 1,
    secrets: [],
    ...(reason !== null && { reason: whyAsked({ reason, rule, labels }) }),
    ...(prompt !== null && { prompt }),
    ...(risk !== null && { risk }),
    ...(unseen !== undefined && { unseen }),
  };
}

const NO_RATIONALE = { reason: null, rule: null, labels: [], prompt: null, risk: null };

/** Which rule asks, and which paths it is about. */
function aboutRule({ rationale, context, approval }: PermissionQuestion): string[] {
  const { paths } = context;
  const { id, source } = rationale?.rule ?? {};
  // A mode is no rule that could be looked up.
  const isRule = typeof id === "string" && source !== MODE_SOURCE;
  return [
    ...(isRule ? [`  Rule: ${oneLine(id)}`] : []),
    ...(paths.length === 0 ? [] : [`  Paths: ${paths.map(oneLine).join(", ")}`]),
    ...(approval.approversRequired > 1
      ? [`  ${approval.approversRequired} people have to allow it`]
      : []),
  ];
}

function isYesOrNo(options: PermissionQuestion["options"]): boolean {
  return options.filter(({ kind }) => kind === "allow_once").length === 1;
}

function choicesOf({ options }: PermissionQuestion): Choice[] {
  if (options.length === 0) {
    return [
      { key: "y", words: ["yes", "allow"], shown: "Allow", reply: "allow" },
      { key: "n", words: ["no", "deny"], shown: "Deny", reply: "deny" },
    ];
  }
  const isPlain = isYesOrNo(options);
  const taken = new Set<string>();
  return options.map(({ id, name, kind }, at) => {
    const isFirst = options.findIndex((option) => option.kind === kind) === at;
    const usual = isPlain && isFirst ? USUAL.get(kind) : undefined;
    const key = freeKey(`${usual?.key ?? ""}${id.toLowerCase()}`, taken) ?? id;
    taken.add(key);
    const words = [...(usual?.words ?? []), id.toLowerCase(), name.toLowerCase()];
    return { key: oneLine(key), words, shown: oneLine(name), reply: { option: id } };
  });
}

/** The first letter that stands for nothing else. */
function freeKey(wanted: string, taken: ReadonlySet<string>): string | undefined {
  return (wanted + LETTERS).match(/[a-z]/g)?.find((letter) => !taken.has(letter));
}

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const USUAL: ReadonlyMap<string, { readonly key: string; readonly words: readonly string[] }> =
  new Map([
    ["allow_once", { key: "y", words: ["yes"] }],
    ["allow_always", { key: "a", words: ["always"] }],
    ["reject_once", { key: "n", words: ["no"] }],
  ]);

function linesOf(text: string): string[] {
  return text.replace(/\n$/, "").split("\n");
}
