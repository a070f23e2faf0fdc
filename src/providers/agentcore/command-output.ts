import type { CommandEvent } from "../../domain/provider/command-event.ts";
import { SpanlineError } from "../../domain/errors.ts";
import { toError } from "../../domain/provider/provider-error.ts";

export interface CommandOutput {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
  readonly outcome: Extract<CommandEvent, { type: "exit" }>["outcome"];
}

const MAX_CHARACTERS = 128 * 1024 * 1024;

/** Collects the whole output of a command. Throws if the command has no known exit or writes more than the limit. */
export async function collectCommandOutput(
  events: AsyncIterable<CommandEvent>,
  maxCharacters = MAX_CHARACTERS,
): Promise<CommandOutput> {
  const text = { stdout: [] as string[], stderr: [] as string[] };
  let characters = 0;
  for await (const event of events) {
    switch (event.type) {
      case "stdout":
      case "stderr":
        characters += event.text.length;
        if (characters > maxCharacters) {
          const message = `The command wrote more than ${maxCharacters} characters`;
          throw new SpanlineError("turn_too_large", message);
        }
        text[event.type].push(event.text);
        break;
      case "failed":
        throw toError(event.failure);
      case "exit": {
        const { exitCode, outcome } = event;
        return { stdout: text.stdout.join(""), stderr: text.stderr.join(""), exitCode, outcome };
      }
      default:
        event satisfies never;
    }
  }
  throw new SpanlineError("incomplete_turn", "The command stream ended without an exit event");
}
