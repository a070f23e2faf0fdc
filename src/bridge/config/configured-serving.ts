import { dirname } from "node:path";
import { readKeys, type AccessKey } from "../../http/keys.ts";
import type { Environment } from "../../platform/environment.ts";
import { expectTrust, type IsTrusted } from "./expect-trust.ts";
import { servingNeedsTrust } from "./needs-trust.ts";
import { inFile, under } from "./placed-at.ts";
import { readConfig } from "./read-config.ts";
import { documentIn } from "./read-document.ts";
import { readText } from "./read-text.ts";
import type { AcpConfig } from "./read-acp.ts";
import type { KeyConfig, ServeConfig } from "./read-serve.ts";
import { markOf } from "./used-config.ts";
import { valueOf, type ReferencePlace } from "./variables.ts";

/** How agents are served, with the keys that a configuration leads to. */
export interface Serving extends Omit<ServeConfig, "keys">, AcpConfig {
  readonly keys: readonly AccessKey[];
}

export interface ServingOptions {
  /** The configuration. */
  readonly file: string;
  readonly environment: Environment;
  readonly isTrusted: IsTrusted;
}

export async function configuredServing(options: ServingOptions): Promise<Serving> {
  const { file, environment, isTrusted } = options;
  const text = await readText(file);
  const document = documentIn(text, file);
  try {
    const read = readConfig(document);
    const { serve } = read;
    const mark = { ...(await markOf(file, text)), file };
    // Whoever runs the agents, which may be another process, it is this one that lets others in.
    await expectTrust([servingNeedsTrust(serve)], { read, mark, isTrusted });
    const place = { environment, folder: dirname(file) };
    const keys: AccessKey[] = [];
    for (const one of serve.keys) {
      keys.push(await keyFrom(one, place));
    }
    under("serve", () => readKeys(keys));
    return { ...serve, ...read.acp, keys };
  } catch (error) {
    throw inFile(error, file);
  }
}

async function keyFrom({ key, ...rest }: KeyConfig, place: ReferencePlace): Promise<AccessKey> {
  if (key === undefined) return rest;
  return { ...rest, key: (await valueOf(key, place)).value };
}
