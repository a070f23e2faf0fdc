import { readFile, realpath } from "node:fs/promises";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { SpanlineError } from "../../domain/errors.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Environment } from "../../platform/environment.ts";
import type { Brain } from "./brain.ts";
import { createDemoBrain } from "./demo/demo-brain.ts";
import { createModelBrain } from "./model/model-brain.ts";
import { parseScenario } from "./script/parse-scenario.ts";
import { createScriptBrain } from "./script/script-brain.ts";

export interface BrainSources {
  readonly clock: Clock;
  /** The brain of whoever names none. */
  readonly fallback?: string;
  /** Brains by name, beside the ones that are always there. */
  readonly named?: { readonly [name: string]: Brain };
  /** The folder of the scenarios that anybody may name. */
  readonly scripts?: string;
  /** The names that the settings give. Their scenarios may lie anywhere. */
  readonly trusted?: readonly string[];
  /** Where models find their keys and addresses. Absent: there are no models. */
  readonly environment?: Environment;
}

/** Finds brains by name: `demo`, `script:FILE`, `model:NAME` such as `model:ollama:qwen3`, or one that was given. */
export function createBrainFinder({
  clock,
  fallback = "demo",
  named = {},
  environment = {},
  scripts,
  trusted = [],
}: BrainSources): (name: string | undefined) => Promise<Brain> {
  const brainsByFile = new Map<string, Promise<Brain>>();
  const findScript = async (name: string): Promise<Brain> => {
    const file = name.slice(SCRIPT_PREFIX.length);
    if (name !== fallback && !trusted.includes(name)) await checkScenarioFolder(file, scripts);
    const cached = brainsByFile.get(file);
    if (cached !== undefined) return cached;
    const brain = readScriptBrain(file, clock);
    brainsByFile.set(file, brain);
    // A file that could not be read may be mended.
    brain.catch(() => brainsByFile.delete(file));
    return brain;
  };
  return async (name = fallback) => {
    if (Object.hasOwn(named, name)) return named[name] as Brain;
    if (name === "demo") return createDemoBrain();
    if (name.startsWith(SCRIPT_PREFIX)) return findScript(name);
    if (name.startsWith(MODEL_PREFIX)) {
      // Loaded when somebody wants it: the signers behind it are large.
      const { modelFromName } = await import("../../models/model-from-name.ts");
      return createModelBrain(
        modelFromName(name.slice(MODEL_PREFIX.length), environment, { clock }),
      );
    }
    const names = ["demo", "script:FILE", "model:NAME", ...Object.keys(named)].join(", ");
    throw new SpanlineError("invalid_option", `There is no brain "${name}"; there are ${names}`);
  };
}

const SCRIPT_PREFIX = "script:";
const MODEL_PREFIX = "model:";

async function readScriptBrain(file: string, clock: Clock): Promise<Brain> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `Cannot read the script ${file}: ${reason}`;
    throw new SpanlineError("invalid_option", message, { cause });
  }
  return createScriptBrain(parseScenario(file, text), clock);
}

/**
 * Throws when a scenario lies outside of the folder for them. A harness is made by whoever reaches the emulator, and what
 * is wrong in a file is said with parts of it.
 */
async function checkScenarioFolder(file: string, folder: string | undefined): Promise<void> {
  if (folder === undefined) {
    const message = `The script ${file} is none that the emulator was started with, and it was given no folder of scripts; start it with scripts: FOLDER to let harnesses name the files in there`;
    throw new SpanlineError("invalid_option", message);
  }
  const message = `The script ${file} is not in ${folder}, the folder of scripts that the emulator was started with`;
  if (!isInside(resolve(file), resolve(folder))) throw new SpanlineError("invalid_option", message);
  // A link may lead out of the folder. A file that there is not is for whoever reads it to complain of.
  const [real, realFolder] = await Promise.all([file, folder].map((path) => realpath(path))).catch(
    () => [],
  );
  if (real === undefined || realFolder === undefined || isInside(real, realFolder)) return;
  throw new SpanlineError("invalid_option", message);
}

function isInside(path: string, folder: string): boolean {
  const relativePath = relative(folder, path);
  return (
    relativePath !== "" &&
    relativePath !== ".." &&
    !relativePath.startsWith(`..${sep}`) &&
    !isAbsolute(relativePath)
  );
}
