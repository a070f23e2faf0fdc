import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { startPeer } from "../../test/support/server/scripted-peer.ts";
import { ResponseTooLargeError, createBoundedFetch } from "./bounded-fetch.ts";
import { runs } from "../../test/support/test-depth.ts";

const bounded = createBoundedFetch({ maxBytes: 20, pace: () => undefined });

async function fetched(type: string, pieces: readonly string[]): Promise<string> {
  const { url } = await startPeer((response) => {
    response.writeHead(200, { "content-type": type });
    const [next, ...rest] = pieces;
    const send = (piece: string | undefined, more: readonly string[]): void => {
      if (piece === undefined) return void response.end();
      response.write(piece, () => setImmediate(() => send(more[0], more.slice(1))));
    };
    send(next, rest);
  });
  return (await bounded(url)).text();
}

describe("Bounded fetch", () => {
  it("A response of exactly the limit is accepted, and a longer response is refused", async () => {
    expect(await fetched("application/json", ["x".repeat(20)])).toBe("x".repeat(20));
    await expect(fetched("application/json", ["x".repeat(21)])).rejects.toThrow(
      ResponseTooLargeError,
    );
  });

  it("An event stream may be endless, and each event is limited in size", async () => {
    const event = "data: 12345678901\n\n";
    expect(await fetched("text/event-stream; charset=utf-8", [event.repeat(5)])).toBe(
      event.repeat(5),
    );
    const endless = ["data: 1\n", "data: 2\n", "data: 3\n"];
    await expect(fetched("text/event-stream", endless)).rejects.toThrow(ResponseTooLargeError);
  });

  it("The size of events does not depend on how the stream is split into chunks", async () => {
    const fine = "data: 1234567890\r\n\r\n".repeat(3);
    // A letter before a newline in the next chunk does not make an empty line.
    const long = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\n";
    const cut = (text: string, at: readonly number[]): string[] => {
      const places = [0, ...at.map((place) => place % text.length), text.length];
      places.sort((a, b) => a - b);
      return places.slice(1).map((place, index) => text.slice(places[index], place));
    };
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(), { maxLength: 4 }), async (at) => {
        const pieces = cut(fine, at).filter((piece) => piece !== "");
        expect(await fetched("text/event-stream", pieces)).toBe(fine);
        const more = cut(long, at).filter((piece) => piece !== "");
        await expect(fetched("text/event-stream", more)).rejects.toThrow(ResponseTooLargeError);
      }),
      { numRuns: runs(20) },
    );
  });

  it("Reading an event stream waits for the pace function", async () => {
    const receivedSizes: number[] = [];
    const paced = createBoundedFetch({
      maxBytes: 100,
      pace: (events) => {
        receivedSizes.push(events);
        return Promise.resolve();
      },
    });
    const { url } = await startPeer((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end("data: 1\n\ndata: 2\n\ndata: 3");
    });
    expect(await (await paced(url)).text()).toContain("data: 3");
    expect(receivedSizes.reduce((sum, events) => sum + events, 0)).toBe(2);
  });
});
