import type { Server } from "node:http";
import { checkRequest } from "./request-guard.ts";
import { beginExchange } from "./exchange-recorder.ts";
import { encodeRawResponse } from "./send-response.ts";
import type { ServerOptions } from "./server-options.ts";
import type { RawUpgrade, UpgradeHandler } from "./upgrade-handler.ts";

/**
 * Handles a request with an `Upgrade` header: hands the connection to `upgrades`, refuses the request, or serves it as
 * ordinary HTTP.
 */
export async function handleUpgrade(
  server: Server,
  raw: RawUpgrade,
  options: ServerOptions & { readonly upgrades: UpgradeHandler },
): Promise<void> {
  const { socket } = raw;
  // The socket has no other error listener yet, and an unhandled error event would end the process.
  const ignore = (): void => {};
  socket.on("error", ignore);
  const exchange = beginExchange(raw.incoming, options);
  try {
    const refusal = checkRequest(exchange.head, options);
    if (refusal === undefined && !options.upgrades.canUpgrade(exchange.head)) {
      socket.off("error", ignore);
      serveWithoutUpgrade(server, raw);
      return;
    }
    const answer =
      refusal === undefined
        ? await options.upgrades.upgrade(exchange.head, raw)
        : options.refuse(refusal);
    if (answer === undefined) exchange.markUpgraded();
    else socket.end(encodeRawResponse(exchange.addHeaders(answer)), () => socket.destroy());
    exchange.end("sent");
  } catch (error) {
    options.onBug(error);
    socket.destroy();
    exchange.end("failed");
  }
}

/**
 * Serves the request as ordinary HTTP. A server may ignore an upgrade (RFC 9110 §7.8), and Java's HTTP client offers
 * HTTP/2 with the first request of every connection. Node has already detached the socket, so the request is written
 * back to the socket without its upgrade headers.
 */
function serveWithoutUpgrade(server: Server, { incoming, socket, head: rest }: RawUpgrade): void {
  const { method, url, httpVersion, rawHeaders } = incoming;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    const value = rawHeaders[at + 1] ?? "";
    if (/^(?:upgrade|http2-settings)$/i.test(name)) continue;
    lines.push(`${name}: ${/^connection$/i.test(name) ? removeUpgradeOptions(value) : value}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), rest]));
  server.emit("connection", socket);
}

function removeUpgradeOptions(value: string): string {
  const remainingOptions = value
    .split(",")
    .map((option) => option.trim())
    .filter((option) => !/^(?:upgrade|http2-settings)$/i.test(option));
  return remainingOptions.join(", ") || "keep-alive";
}
