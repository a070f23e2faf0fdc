import { SpanlineError } from "../../domain/errors.ts";
import { readSavedFile, saveFile } from "../../platform/files/private-files.ts";
import {
  EMPTY_REGISTRY,
  parseRegistry,
  encodeRegistry,
  type RegistryState,
} from "./registry-state.ts";

export interface RegistryStep<Result> {
  readonly state: RegistryState;
  readonly result: Result;
}

export interface RegistryStore {
  readState(): RegistryState;
  /**
   * Runs steps one after another. The result of a step is saved before it becomes visible; a step that throws changes
   * nothing.
   */
  change<Result>(step: (state: RegistryState) => RegistryStep<Result>): Promise<Result>;
  /** Resolves when all changes are saved. */
  waitUntilSaved(): Promise<void>;
}

/** Stores the registry in a file, or in memory without a path. */
export async function openRegistryStore(path: string | undefined): Promise<RegistryStore> {
  let state = path === undefined ? EMPTY_REGISTRY : await loadRegistry(path);
  let last: Promise<unknown> = Promise.resolve();
  return {
    readState: () => state,
    change(step) {
      const run = async () => {
        const next = step(state);
        if (next.state !== state) {
          if (path !== undefined) await saveFile(path, encodeRegistry(next.state));
          state = next.state;
        }
        return next.result;
      };
      const result = last.then(run);
      last = result.catch(() => undefined);
      return result;
    },
    async waitUntilSaved() {
      await last;
    },
  };
}

async function loadRegistry(path: string): Promise<RegistryState> {
  const text = await readSavedFile(path);
  if (text === undefined) return EMPTY_REGISTRY;
  try {
    return parseRegistry(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `Cannot read ${path}: ${reason}. Fix: move the file away to start without harnesses`;
    throw new SpanlineError("unreadable_input", message, { cause, details: { path } });
  }
}
