import { dirname } from "node:path";
import { readKeys, type AccessKey } from "../../http/keys.ts";
import type { Environment } from "../../platform/environment.ts";
import { inFile, under } from "./placed-at.ts";
import { readConfig } from "./read-config.ts";
import { readDocument } from "./read-document.ts";
import type { KeyConfig, ServeConfig } from "./read-serve.ts";
import { valueOf, type ReferencePlace } from "./variables.ts";

/** How agents are served, with the keys that a configuration leads to. */
export interface Serving extends Omit<ServeConfig, "keys"> {
  readonly keys: readonly AccessKey[];
}

export interface ServingOptions {
  /** The configuration. */
  readonly file: string;
  readonly environment: Environment;
}

export async function configuredServing({ file, environment }: ServingOptions): Promise<Serving> {
  const document = await readDocument(file);
  try {
    const { serve } = readConfig(document);
    const place = { environment, folder: dirname(file) };
    const keys: AccessKey[] = [];
    for (const one of serve.keys) {
      keys.push(await keyFrom(one, place));
    }
    under("serve", () => readKeys(keys));
    return { ...serve, keys };
  } catch (error) {
    throw inFile(error, file);
  }
}

async function keyFrom({ key, ...rest }: KeyConfig, place: ReferencePlace): Promise<AccessKey> {
  if (key === undefined) return rest;
  return { ...rest, key: (await valueOf(key, place)).value };
}
