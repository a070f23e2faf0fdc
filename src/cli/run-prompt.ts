import { text } from "node:stream/consumers";
import { SpanlineError } from "../domain/errors.ts";

/** What to say: the argument, or what is piped in. */
export async function promptFrom(given: string | undefined): Promise<string> {
  const { stdin } = process;
  if (given !== undefined && given !== "-") return given;
  if (given === undefined && stdin.isTTY) {
    const message = "There is nothing to say: give the prompt, or - to type it and end with Ctrl-D";
    throw new SpanlineError("invalid_option", message);
  }
  const piped = (await text(stdin)).trim();
  if (piped !== "") return piped;
  throw new SpanlineError("invalid_option", "There is nothing to say: standard input is empty");
}
