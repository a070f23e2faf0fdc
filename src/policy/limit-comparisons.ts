import type { PolicyContext } from "../domain/policy/policy-decision.ts";
import type { CompiledLayer } from "./compile-policy.ts";
import { HOLE } from "./matching/wildcard.ts";

/**
 * Bounds the time of matching. A command too long for the number of command patterns is replaced by an unknown command:
 * `deny` and `ask` rules match it, `allow` rules do not.
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
  const commandUnparsed =
    call.commandUnparsed ?? "it is too long to compare with this many command patterns";
  const simpleCommands = [{ program: null, words: [HOLE] }];
  return { ...call, commandUnparsed, simpleCommands, commandLines: [] };
}

/** Characters times patterns: a few tenths of a second in the worst case. */
export const MAX_COMPARED_CHARACTERS = 5_000_000;
