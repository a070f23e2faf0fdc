import { isObject } from "../../../data/json.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";
import { formatValue } from "../../../text/format-value.ts";
import { createParamsError } from "../a2a-error.ts";
import type { ProtocolVersion } from "../dialect.ts";
import { readId } from "../read-message.ts";

/** A receiver for the updates of a task. */
export interface PushConfig {
  readonly id: string;
  readonly url: string;
  /** Sent with every notification, so that the receiver recognizes its task. */
  readonly token?: string;
  readonly authentication?: PushAuthentication;
}

/** The header `Authorization` of the notifications. */
export interface PushAuthentication {
  readonly scheme: string;
  /** Absent: no header is sent. */
  readonly credentials?: string;
}

/** A config of a client, which may leave the id to the server. */
export type SentPushConfig = Omit<PushConfig, "id"> & { readonly id?: string };

/** Characters. A stored config fits into a record of the store. */
const MAX_URL_LENGTH = 2048;
const MAX_TOKEN_LENGTH = 1024;
const MAX_SCHEME_LENGTH = 64;
const MAX_CREDENTIALS_LENGTH = 4096;

/** Reads a config in the form of 1.0 or 0.3. `path` is its place in the request. */
export function readPushConfig(value: unknown, path: string): SentPushConfig {
  if (!isObject(value))
    throw createParamsError(`${path} is ${formatValue(value)}: expected an object`);
  const { url } = value;
  if (typeof url !== "string" || url === "" || url.length > MAX_URL_LENGTH)
    throw createParamsError(
      `${path}.url is not a valid URL: expected a string of 1 to ${MAX_URL_LENGTH} characters`,
    );
  return {
    url,
    ...omitUndefined({
      id: readId(value["id"], `${path}.id`),
      token: readSecret(value["token"], `${path}.token`, MAX_TOKEN_LENGTH),
      authentication: readAuthentication(value["authentication"], `${path}.authentication`),
    }),
  };
}

/** Reads the config in the configuration of a send, under the name of 1.0 or 0.3. Undefined if there is none. */
export function readSentConfig(configuration: unknown): SentPushConfig | undefined {
  if (!isObject(configuration)) return undefined;
  for (const name of ["taskPushNotificationConfig", "pushNotificationConfig"]) {
    const value = configuration[name];
    if (value !== undefined && value !== null)
      return readPushConfig(value, `configuration.${name}`);
  }
  return undefined;
}

/** The client of 0.3 lists the schemes that its receiver accepts: the first is used. */
function readAuthentication(value: unknown, path: string): PushAuthentication | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isObject(value))
    throw createParamsError(`${path} is ${formatValue(value)}: expected an object`);
  const { schemes } = value;
  const first: unknown = Array.isArray(schemes) ? schemes[0] : undefined;
  const scheme = value["scheme"] ?? first ?? "";
  const credentials = readSecret(
    value["credentials"],
    `${path}.credentials`,
    MAX_CREDENTIALS_LENGTH,
  );
  if (scheme === "" && credentials === undefined) return undefined;
  if (typeof scheme !== "string" || scheme.length > MAX_SCHEME_LENGTH || !SCHEME.test(scheme))
    throw createParamsError(
      `${path}.scheme is ${formatValue(scheme)}: expected an authentication scheme such as Bearer`,
    );
  return { scheme, ...omitUndefined({ credentials }) };
}

const SCHEME = /^[\w!#$%&'*+.^`|~-]+$/;

/** Reads a value for a header. The message of an error does not contain the value. */
function readSecret(value: unknown, path: string, maxLength: number): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value === "string" && value.length <= maxLength && HEADER_TEXT.test(value))
    return value;
  throw createParamsError(
    `${path} is not valid: expected a string of at most ${maxLength} printable ASCII characters`,
  );
}

const HEADER_TEXT = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** Encodes a config without its token and its credentials, which the client knows and nobody else needs. */
export function encodePushConfig(
  { id, url, authentication }: PushConfig,
  taskId: string,
  version: ProtocolVersion,
): object {
  if (version === "1.0") {
    const info = authentication && { authentication: { scheme: authentication.scheme } };
    return { id, taskId, url, ...info };
  }
  const info = authentication && { authentication: { schemes: [authentication.scheme] } };
  return { taskId, pushNotificationConfig: { id, url, ...info } };
}

/** Encodes all configs of a task. */
export function encodePushConfigs(
  configs: readonly PushConfig[],
  taskId: string,
  version: ProtocolVersion,
): object {
  const encoded = configs.map((config) => encodePushConfig(config, taskId, version));
  return version === "1.0" ? { configs: encoded, nextPageToken: "" } : encoded;
}
