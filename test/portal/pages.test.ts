import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer, text as textOf } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { ERROR_CODES } from "../../src/domain/errors.ts";
import { loggedSessions, type LoggedSessions } from "./logged-sessions.ts";
import { servedPortal, TOKEN, type ServedPortal } from "./start-portal.ts";
import { HOSTILE, hostileTurn } from "./scripted-turns.ts";

const SCRIPT = "console.log('span');\n".repeat(50);
const PAGE = `<!doctype html><script type="module" src="/portal/assets/index-a1.js"></script>`;

let sessions: LoggedSessions;
let portal: ServedPortal;
let folder: string;

/** A folder with the files of a build. */
function writeBuild(page = PAGE): void {
  mkdirSync(join(folder, "assets"), { recursive: true });
  writeFileSync(join(folder, "index.html"), page);
  writeFileSync(join(folder, "assets/index-a1.js"), SCRIPT);
  writeFileSync(join(folder, "assets/index-b2.css"), "body { margin: 0 }");
  writeFileSync(join(folder, "assets/favicon-c3.svg"), "<svg/>");
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "spanline-pages-"));
  sessions = loggedSessions();
  portal = await servedPortal(sessions, { findPages: () => folder });
  onTestFinished(async () => {
    rmSync(folder, { recursive: true, force: true });
    await portal.close();
  });
});

describe.each(["/", "/inbox", "/sessions", "/sessions/ses_1", "/login"])(
  "The address %s",
  (path) => {
    it("The page of the app is served with a policy that runs only files of this server", async () => {
      writeBuild();
      const { text, headers, status } = await portal.get(path);
      expect([status, text]).toEqual([200, PAGE]);
      expect(headers).toMatchObject({
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
      });
      expect(String(headers["content-security-policy"]).split("; ")).toEqual([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "font-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
      ]);
    });

    it("HEAD is answered like GET, without the body", async () => {
      writeBuild();
      const head = await portal.begin("HEAD", path);
      expect([head.statusCode, await textOf(head)]).toEqual([200, ""]);
      expect(head.headers["content-length"]).toBe(String(PAGE.length));
    });

    it("A link with the token of the bridge becomes a cookie and leaves the address bar", async () => {
      writeBuild();
      const { status, headers } = await portal.get(`${path}?token=${TOKEN}&x=1`);
      expect([status, headers["location"]]).toEqual([303, `${path}?x=1`]);
      expect(String(headers["set-cookie"])).toMatch(/^spanline_\d+=.*; HttpOnly; SameSite=Strict$/);
      expect((await portal.get(`${path}?token=wrong`)).status).toBe(403);
    });
  },
);

describe("The files of the app", () => {
  it.each([
    ["index-a1.js", "text/javascript; charset=utf-8"],
    ["index-b2.css", "text/css; charset=utf-8"],
    ["favicon-c3.svg", "image/svg+xml"],
  ])("The file %s has its type and may be cached forever", async (name, type) => {
    writeBuild();
    const { status, headers } = await portal.get(`/portal/assets/${name}`);
    expect([status, headers["content-type"], headers["cache-control"]]).toEqual([
      200,
      type,
      "public, max-age=31536000, immutable",
    ]);
  });

  it.each([
    ["gzip, deflate, br", true],
    ["br;q=1.0, GZIP;q=0.5", true],
    ["gzip;q=0", false],
    ["br", false],
    ["", false],
  ])("A client that accepts %j gets a compressed file: %s", async (accepted, isGzipped) => {
    writeBuild();
    const headers = { "accept-encoding": accepted };
    const response = await portal.begin("GET", "/portal/assets/index-a1.js", { headers });
    const bytes = await buffer(response);
    expect(response.headers["content-encoding"]).toBe(isGzipped ? "gzip" : undefined);
    expect(response.headers["vary"]).toContain("accept-encoding");
    expect((isGzipped ? gunzipSync(bytes) : bytes).toString()).toBe(SCRIPT);
  });

  it.each(["index-old.js", "..%2Findex.html", "%2e%2e", "__proto__"])(
    "A name that is not a file of the build is not found: %s",
    async (name) => {
      writeBuild();
      const { status, json } = await portal.get(`/portal/assets/${name}`);
      expect([status, Object(json).error?.code]).toEqual([404, "not_found"]);
    },
  );

  it("A later build does not change the pages of a running bridge", async () => {
    writeBuild();
    expect((await portal.get("/")).text).toBe(PAGE);
    rmSync(folder, { recursive: true });
    expect((await portal.get("/")).text).toBe(PAGE);
    expect((await portal.get("/portal/assets/index-a1.js")).text).toBe(SCRIPT);
  });

  it("A bridge without a build says so, and serves the build once it exists", async () => {
    const missing = await portal.get("/");
    expect([missing.status, missing.headers["content-type"]]).toEqual([
      503,
      "text/html; charset=utf-8",
    ]);
    expect(missing.text).toContain("npm run build");
    expect((await portal.get("/portal/assets/index-a1.js")).status).toBe(404);
    writeBuild();
    expect((await portal.get("/")).status).toBe(200);
  });
});

describe("Hostile text", () => {
  it("Hostile text is sent as JSON that no browser treats as a page", async () => {
    const principal = { id: "local", rights: ["prompt"] } as const;
    const { sessionId } = await sessions.open({ principal, title: HOSTILE });
    await sessions.log(sessionId, ...hostileTurn());
    const answers = [
      await portal.get("/api/sessions"),
      await portal.get(`/api/sessions/${sessionId}`),
      await portal.get(`/api/sessions/${encodeURIComponent(HOSTILE)}`),
      await portal.get(`/${encodeURIComponent(HOSTILE)}`),
    ];
    for (const { headers, json } of answers) {
      expect(headers["content-type"]).toBe("application/json; charset=utf-8");
      expect(headers["x-content-type-options"]).toBe("nosniff");
      expect(json).toBeTypeOf("object");
    }
    expect(answers[0]?.json).toMatchObject({ sessions: [{ title: HOSTILE }] });
  });

  it("Hostile text in a path does not reach the error code", async () => {
    const { json } = await portal.get(`/api/sessions/${encodeURIComponent(HOSTILE)}`);
    expect(ERROR_CODES).toContain(Object(json).error.code);
  });
});
