import { text } from "node:stream/consumers";
import { SpanlineError } from "../../domain/errors.ts";

/** What to say: the argument, or what is piped in. */
export async function readPrompt(argument: string | undefined): Promise<string> {
  const { stdin } = process;
  if (argument !== undefined && argument !== "-") return argument;
  if (argument === undefined && stdin.isTTY) {
    const message = "There is nothing to say: give the prompt, or - to type it and end with Ctrl-D";
    throw new SpanlineError("invalid_option", message);
  }
  const piped = (await text(stdin)).trim();
  if (piped !== "") return piped;
  throw new SpanlineError("invalid_option", "There is nothing to say: standard input is empty");
}
