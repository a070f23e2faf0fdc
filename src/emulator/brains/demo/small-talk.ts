import type { InvocationSettings } from "../brain.ts";
import { asksForAction, selectClientTools } from "./choose-tool.ts";
import type { DemoPrompt } from "./demo-prompt.ts";
import { findName } from "./answer-from-memory.ts";

/** A reply to a prompt that needs neither a tool nor earlier messages. */
export function createSmallTalk(demoPrompt: DemoPrompt, settings: InvocationSettings): string {
  const { text: prompt } = demoPrompt;
  const name = findName(prompt);
  if (name !== null) return `Nice to meet you, ${name}. I will remember your name.`;
  if (/^\W*(?:hi|hello|hey|good (?:morning|afternoon|evening)|greetings)\b/i.test(prompt)) {
    return "Hello! I am the demo agent of Spanline. Ask me something, tell me your name, or ask me to do something with one of your tools.";
  }
  if (/\b(?:thank you|thanks)\b/i.test(prompt)) return "You are welcome.";
  if (/\b(?:bye|goodbye)\b/i.test(prompt)) return "Goodbye! I keep this session in mind.";
  if (/\bremember\b/i.test(prompt)) return "I will remember that.";
  const sum = computeArithmetic(prompt);
  if (sum !== null) return sum;
  if (/\b(?:what can you do|help|tools?)\b/i.test(prompt)) return describeAbilities(settings);
  if (/\bwho are you|\bwhat are you\b|\byour name\b/i.test(prompt)) {
    return "I am the demo agent: a small program that plays a model, so that you can try everything without an account.";
  }
  if (asksForAction(demoPrompt)) {
    return `I have no tool for that. ${describeAbilities(settings)}`;
  }
  const short = prompt.length <= 120 ? prompt : `${prompt.slice(0, 120)}…`;
  return prompt.trim().endsWith("?")
    ? `That is a good question. I am only a small demo agent, so I do not know, but I will remember that you asked: "${short}"`
    : `I heard you: "${short}" I will remember it.`;
}

/**
 * The answer to plain arithmetic, so "6 times 7" does not trigger a tool about time. Null if the prompt asks for an
 * action.
 */
export function answerSum(prompt: DemoPrompt): string | null {
  return asksForAction(prompt) ? null : computeArithmetic(prompt.text);
}

function describeAbilities(settings: InvocationSettings): string {
  const names = selectClientTools(settings).map(({ name }) => name);
  const tools =
    names.length === 0 ? "You have offered me no tools." : `I can use ${names.join(", ")}.`;
  return `${tools} I can also chat a little, add numbers, and remember what you said.`;
}

/** A match may only start at the first digit of a number, so a long number is scanned once. */
function computeArithmetic(prompt: string): string | null {
  const match =
    /(?<!\d)(-?\d+(?:\.\d+)?)\s*([+*x×/-]|plus|minus|times|divided by)\s*(-?\d+(?:\.\d+)?)/i.exec(
      prompt,
    );
  const [, left, sign = "", right] = match ?? [];
  const operation = OPERATIONS[sign.toLowerCase()];
  if (left === undefined || right === undefined || operation === undefined) return null;
  const result = operation(Number(left), Number(right));
  return Number.isFinite(result)
    ? `That is ${Number(result.toPrecision(12))}.`
    : "Division by zero has no result.";
}

type Operation = (left: number, right: number) => number;
const add: Operation = (left, right) => left + right;
const subtract: Operation = (left, right) => left - right;
const multiply: Operation = (left, right) => left * right;
const divide: Operation = (left, right) => left / right;
const OPERATIONS: { readonly [sign: string]: Operation } = {
  "+": add,
  plus: add,
  "-": subtract,
  minus: subtract,
  "*": multiply,
  x: multiply,
  "×": multiply,
  times: multiply,
  "/": divide,
  "divided by": divide,
};
