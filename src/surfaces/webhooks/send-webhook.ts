import { lookup } from "node:dns";
import { request as requestHttp, type RequestOptions } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { SpanlineError } from "../../domain/errors.ts";
import { isPublicAddress } from "./public-address.ts";

export interface WebhookRequest {
  readonly url: URL;
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
  /** Sends also to an address of the private network or of this machine. */
  readonly allowPrivate: boolean;
  /** The setting that allows private addresses, for the error. */
  readonly setting: string;
  /** Milliseconds for the whole exchange. Default: 10 seconds. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 10_000;

/**
 * Sends a POST and resolves with the status of the response. The body of the response is not read, and a redirect is
 * not followed. Rejects with `access_denied` for a private address, and with `connect_failed` without a response.
 */
export function sendWebhook(
  { url, headers, body, allowPrivate, setting, timeoutMs = TIMEOUT_MS }: WebhookRequest,
  signal: AbortSignal,
): Promise<number> {
  const refusal = new SpanlineError(
    "access_denied",
    `${url.hostname} is an address of a private network. Fix: set ${setting} if it is yours`,
  );
  const host = readHost(url);
  if (!allowPrivate && isIP(host) !== 0 && !isPublicAddress(host)) return Promise.reject(refusal);
  const options: RequestOptions = {
    method: "POST",
    headers: { ...headers, "content-length": String(Buffer.byteLength(body)) },
    // A connection of its own: a kept connection would skip the check of the address.
    agent: false,
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    ...(!allowPrivate && { lookup: createPublicLookup(refusal) }),
  };
  return new Promise((resolve, reject) => {
    const send = url.protocol === "https:" ? requestHttps : requestHttp;
    const request = send(url, options, (response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    request.on("error", (cause: Error) => {
      if (cause instanceof SpanlineError) reject(cause);
      else reject(new SpanlineError("connect_failed", cause.message, { cause }));
    });
    request.end(body);
  });
}

/** Resolves a name to its public addresses. The connection uses the checked address, so the name cannot change meanwhile. */
function createPublicLookup(refusal: SpanlineError): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error !== null) callback(error, "");
      else if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address)))
        callback(refusal, "");
      else if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

/** Whether the host of a URL is a private address now. False for a name that cannot be resolved. */
export function isPrivateHost(url: URL): Promise<boolean> {
  return new Promise((resolve) => {
    lookup(readHost(url), { all: true }, (error, addresses) =>
      resolve(error === null && !addresses.every(({ address }) => isPublicAddress(address))),
    );
  });
}

function readHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}
