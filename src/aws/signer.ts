import { createHash, createHmac, type Hash, type Hmac } from "node:crypto";
import { toBodyParts, type HttpRequest } from "../platform/http-client.ts";
import type { CredentialSource } from "./credentials.ts";

/** Adds credentials to a request for an AWS service. `now` is the time of the service, corrected for clock skew. */
export type Authorize = (request: HttpRequest, now: number) => Promise<HttpRequest>;

export interface SigningOptions {
  readonly credentials: CredentialSource;
  readonly region: string;
  readonly service: string;
}

/** Signs with AWS Signature Version 4, using the signer of the AWS SDK. */
export function createSigner({ credentials, region, service }: SigningOptions): Authorize {
  return async (request, now) => {
    const [{ SignatureV4 }, identity] = await Promise.all([
      import("@smithy/signature-v4"),
      credentials(),
    ]);
    const signer = new SignatureV4({ credentials: identity, region, service, sha256: Sha256 });
    const { method, url, headers, body } = request;
    const signed = await signer.sign(
      {
        method,
        protocol: url.protocol,
        hostname: url.hostname,
        path: url.pathname,
        query: Object.fromEntries(url.searchParams),
        headers: { ...headers, host: url.host },
        ...(body !== undefined && { body: Buffer.concat(toBodyParts(body)) }),
      },
      { signingDate: now / 1000 },
    );
    return { ...request, headers: signed.headers };
  };
}

type HashInput = string | ArrayBuffer | ArrayBufferView;

/** Node's hash with the interface of the signer. */
class Sha256 {
  readonly #hash: Hash | Hmac;

  constructor(secret?: HashInput) {
    this.#hash =
      secret === undefined ? createHash("sha256") : createHmac("sha256", toBytes(secret));
  }

  update(data: HashInput): void {
    this.#hash.update(toBytes(data));
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }
}

function toBytes(source: HashInput): Uint8Array {
  if (typeof source === "string") return Buffer.from(source, "utf8");
  return ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
}
