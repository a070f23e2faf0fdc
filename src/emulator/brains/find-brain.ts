import { readFile } from "node:fs/promises";
import { SpanlineError } from "../../domain/errors.ts";
import type { Environment } from "../../platform/environment.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Brain } from "./brain.ts";
import { demoBrain } from "./demo/demo-brain.ts";
import { modelBrain } from "./model/model-brain.ts";
import { checkInFolder } from "./script/check-in-folder.ts";
import { parseScenario } from "./script/parse-scenario.ts";
import { scriptBrain } from "./script/script-brain.ts";

export interface BrainSources {
  readonly clock: Clock;
  /** The brain of whoever names none. */
  readonly fallback?: string;
  /** Brains by name, beside the ones that are always there. */
  readonly named?: { readonly [name: string]: Brain };
  /** The folder of the scenarios that anybody may name. */
  readonly scripts?: string;
  /** The names that the settings give. Their scenarios may lie anywhere. */
  readonly own?: readonly string[];
  /** Where models find their keys and addresses. Absent: there are no models. */
  readonly environment?: Environment;
}

/** Finds brains by name: `demo`, `script:FILE`, `model:NAME` such as `model:ollama:qwen3`, or one that was given. */
export function brainFinder({
  clock,
  fallback = "demo",
  named = {},
  environment = {},
  scripts,
  own = [],
}: BrainSources): (name: string | undefined) => Promise<Brain> {
  const read = new Map<string, Promise<Brain>>();
  const script = async (name: string): Promise<Brain> => {
    const file = name.slice(SCRIPT.length);
    if (name !== fallback && !own.includes(name)) await checkInFolder(file, scripts);
    const there = read.get(file);
    if (there !== undefined) return there;
    const made = readScript(file, clock);
    read.set(file, made);
    // A file that could not be read may be mended.
    made.catch(() => read.delete(file));
    return made;
  };
  return async (name = fallback) => {
    if (Object.hasOwn(named, name)) return named[name] as Brain;
    if (name === "demo") return demoBrain();
    if (name.startsWith(SCRIPT)) return script(name);
    if (name.startsWith(MODEL)) {
      // Loaded when somebody wants it: the signers behind it are large.
      const { modelFromName } = await import("../../models/model-from-name.ts");
      return modelBrain(modelFromName(name.slice(MODEL.length), environment, { clock }));
    }
    const names = ["demo", "script:FILE", "model:NAME", ...Object.keys(named)].join(", ");
    throw new SpanlineError("invalid_option", `There is no brain "${name}"; there are ${names}`);
  };
}

const SCRIPT = "script:";
const MODEL = "model:";

async function readScript(file: string, clock: Clock): Promise<Brain> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `Cannot read the script ${file}: ${reason}`;
    throw new SpanlineError("invalid_option", message, { cause });
  }
  return scriptBrain(parseScenario(file, text), clock);
}
