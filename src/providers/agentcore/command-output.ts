import type { CommandEvent } from "../../domain/command-event.ts";
import { SpanlineError } from "../../domain/errors.ts";
import { errorOf } from "../../domain/provider-error.ts";

export interface CommandOutput {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
  readonly outcome: Extract<CommandEvent, { type: "exit" }>["outcome"];
}

const MOST_CHARACTERS = 128 * 1024 * 1024;

/** A command's whole output. Throws when it is not known how the command ended, or when there is too much. */
export async function commandOutput(
  events: AsyncIterable<CommandEvent>,
  mostCharacters = MOST_CHARACTERS,
): Promise<CommandOutput> {
  const text = { stdout: [] as string[], stderr: [] as string[] };
  let characters = 0;
  for await (const event of events) {
    switch (event.type) {
      case "stdout":
      case "stderr":
        characters += event.text.length;
        if (characters > mostCharacters) {
          const message = `The command wrote more than ${mostCharacters} characters`;
          throw new SpanlineError("turn_too_large", message);
        }
        text[event.type].push(event.text);
        break;
      case "failed":
        throw errorOf(event.failure);
      case "exit": {
        const { exitCode, outcome } = event;
        return { stdout: text.stdout.join(""), stderr: text.stderr.join(""), exitCode, outcome };
      }
      default:
        event satisfies never;
    }
  }
  throw new SpanlineError("incomplete_turn", "The command ended without a word about it");
}
