import { isObject, parseJson, type JsonObject, type JsonValue } from "../data/json.ts";
import { formatThrown } from "../domain/errors.ts";
import type { HttpResponse, SendHttp } from "../platform/http-client.ts";
import { DelegationError, type DelegationErrorKind } from "./delegation-error.ts";
import type { Peer } from "./delegate.ts";

export interface HttpPeerOptions {
  readonly send: SendHttp;
  /** The address of the agent, or of its card. */
  readonly url: string;
  /** Sent as `Authorization: Bearer`. Absent: no key. */
  readonly key?: string;
  /** Cancels a request. The caller's clock creates the signal. Default: no timeout. */
  readonly timeout?: (milliseconds: number) => AbortSignal;
  /** Milliseconds for the result of an extension method. */
  readonly requestMs?: number;
}

/** Bytes of a card and of a result. */
const MAX_CARD_BYTES = 256 * 1024;
const MAX_RESULT_BYTES = 8 * 1024 * 1024;
const CARD_MS = 15_000;
const DEFAULT_REQUEST_MS = 1_800_000;
const CARD_PATH = "/.well-known/agent-card.json";

/** Connects to a peer over HTTP. The key is sent to the origin of the card only. */
export function createHttpPeer(options: HttpPeerOptions): Peer {
  const cardUrl = toCardUrl(options.url);
  let card: JsonValue | undefined;
  const readCard = async (signal: AbortSignal): Promise<JsonValue> => {
    card ??= await exchange(
      options,
      {
        method: "GET",
        url: cardUrl,
        maxBytes: MAX_CARD_BYTES,
        milliseconds: CARD_MS,
        failure: "discovery",
      },
      signal,
    );
    return card;
  };
  return {
    readCard,
    async request(method, params, signal) {
      const url = findRpcUrl(await readCard(signal), cardUrl);
      const id = 1;
      const reply = await exchange(
        options,
        {
          method: "POST",
          url,
          body: JSON.stringify({ jsonrpc: "2.0", id, method, params }),
          maxBytes: MAX_RESULT_BYTES,
          milliseconds: options.requestMs ?? DEFAULT_REQUEST_MS,
          failure: "protocol",
        },
        signal,
      );
      return readRpcResult(reply, id, method);
    },
  };
}

function toCardUrl(text: string): URL {
  const url = new URL(text);
  if (url.pathname.endsWith(".json")) return url;
  return new URL(`${url.pathname.replace(/\/+$/, "")}${CARD_PATH}`, url.origin);
}

/** Finds the JSON-RPC interface. A card may not send the caller's key to another origin. */
function findRpcUrl(card: JsonValue, cardUrl: URL): URL {
  const fields: JsonObject = isObject(card) ? card : {};
  const { supportedInterfaces, url } = fields;
  const interfaces = Array.isArray(supportedInterfaces) ? supportedInterfaces : [];
  const rpc = interfaces.find(
    (entry: unknown) => isObject(entry) && entry["protocolBinding"] === "JSONRPC",
  );
  const address: unknown = isObject(rpc) ? rpc["url"] : url;
  if (typeof address !== "string" || !URL.canParse(address))
    throw new DelegationError("discovery", "The agent card has no JSON-RPC interface");
  const rpcUrl = new URL(address);
  if (rpcUrl.origin === cardUrl.origin) return rpcUrl;
  const message = `The agent card of ${cardUrl.origin} names another origin, ${rpcUrl.origin}. Fix: configure that address`;
  throw new DelegationError("denied", message);
}

function readRpcResult(reply: JsonValue, id: number, method: string): JsonValue {
  if (!isObject(reply) || reply["id"] !== id)
    throw new DelegationError(
      "protocol",
      `The response to ${method} has another id than the request`,
    );
  const { result, error } = reply;
  if (isObject(error)) {
    const message = typeof error["message"] === "string" ? error["message"] : "no message";
    throw new DelegationError("protocol", `The peer refused ${method}: ${message.slice(0, 1000)}`);
  }
  if (result === undefined)
    throw new DelegationError("protocol", `The response to ${method} has no result`);
  return result;
}

interface Exchange {
  readonly method: "GET" | "POST";
  readonly url: URL;
  readonly body?: string;
  readonly maxBytes: number;
  readonly milliseconds: number;
  /** The kind of an error response. */
  readonly failure: DelegationErrorKind;
}

/** Sends a request and reads the JSON of its response. Redirects are not followed. */
async function exchange(
  { send, key, timeout }: HttpPeerOptions,
  { method, url, body, maxBytes, milliseconds, failure }: Exchange,
  signal: AbortSignal,
): Promise<JsonValue> {
  const timer = timeout?.(milliseconds);
  const ending = timer === undefined ? signal : AbortSignal.any([signal, timer]);
  try {
    const response = await send(
      {
        method,
        url,
        headers: {
          accept: "application/json",
          "a2a-version": "1.0",
          ...(body !== undefined && { "content-type": "application/json" }),
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
        },
        ...(body !== undefined && { body: new TextEncoder().encode(body) }),
      },
      ending,
    );
    const text = await readText(response, maxBytes);
    if (response.status !== 200)
      throw new DelegationError(
        failure,
        `${url.origin}${url.pathname} responds with status ${response.status}`,
      );
    const parsed = parseJson(text);
    if (parsed.ok) return parsed.value;
    throw new DelegationError(
      failure,
      `${url.origin}${url.pathname} does not respond with JSON: ${parsed.reason}`,
    );
  } catch (error) {
    if (error instanceof DelegationError) throw error;
    if (signal.aborted)
      throw new DelegationError("cancelled", "The delegation was cancelled", { cause: error });
    if (timer?.aborted === true)
      throw new DelegationError(
        "timeout",
        `${url.origin} did not respond within ${milliseconds / 1000} s`,
        { cause: error },
      );
    throw new DelegationError(
      "transport",
      `${url.origin} cannot be reached: ${formatThrown(error)}`,
      { cause: error },
    );
  }
}

async function readText(response: HttpResponse, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) {
      response.close();
      throw new DelegationError("protocol", `The response is larger than ${maxBytes} bytes`);
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
