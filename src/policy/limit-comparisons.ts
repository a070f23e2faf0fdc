import type { PolicyContext } from "../domain/policy/policy-decision.ts";
import type { CompiledLayer } from "./compile-policy.ts";
import { HOLE } from "./matching/wildcard.ts";

/**
 * A call that can be compared with all rules in a bounded time. A command that is too long for so many of them may run
 * anything: nobody looks what.
 */
export function limitComparisons(
  call: PolicyContext,
  layers: readonly Pick<CompiledLayer, "commandPatterns">[],
): PolicyContext {
  const patterns = layers.reduce((sum, layer) => sum + layer.commandPatterns, 0);
  const words = (call.simpleCommands ?? []).flatMap((command) => command.words);
  const texts = [...words, ...(call.commandLines ?? [])];
  const length = texts.reduce((sum, text) => sum + text.length + 1, 0);
  if (length * patterns <= MAX_COMPARED_CHARACTERS) return call;
  const commandUnparsed = call.commandUnparsed ?? "it is too long for so many rules about commands";
  const simpleCommands = [{ program: null, words: [HOLE] }];
  return { ...call, commandUnparsed, simpleCommands, commandLines: [] };
}

/** Characters times patterns: at worst some tenths of a second. */
export const MAX_COMPARED_CHARACTERS = 5_000_000;
