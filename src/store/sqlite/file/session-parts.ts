import { isObject, parseJson, type JsonValue } from "../../../data/json.ts";
import type { Snapshot } from "../../store.ts";
import { createBlobTakenError, createNoSessionError, StoreError } from "../../store-error.ts";
import { findSession } from "./session-rows.ts";
import type { Sql } from "./sql.ts";

export function writeBlob(sql: Sql, sessionId: string, blobId: string, bytes: Uint8Array): void {
  const key = findSession(sql, sessionId)?.key;
  if (key === undefined) throw createNoSessionError(sessionId);
  const existing = readBlob(sql, sessionId, blobId);
  if (existing === undefined) {
    sql.run("INSERT INTO blobs (session, id, bytes) VALUES (?, ?, ?)", key, blobId, bytes);
  } else if (Buffer.compare(existing, bytes) !== 0) throw createBlobTakenError(sessionId, blobId);
}

export function readBlob(sql: Sql, sessionId: string, blobId: string): Uint8Array | undefined {
  const read = `SELECT bytes FROM blobs
    WHERE session = (SELECT key FROM sessions WHERE id = ?) AND id = ?`;
  return sql.get(read, sessionId, blobId)?.bytes("bytes");
}

export function findReply(sql: Sql, key: number, commandId: string): JsonValue | undefined {
  const row = sql.get("SELECT reply FROM commands WHERE session = ? AND id = ?", key, commandId);
  return row === undefined ? undefined : JSON.parse(row.text("reply"));
}

export function writeSnapshot(sql: Sql, key: number, { version, seq, state }: Snapshot): void {
  const write = "INSERT OR REPLACE INTO snapshots (session, form, seq, state) VALUES (?, ?, ?, ?)";
  sql.run(write, key, version, seq, JSON.stringify(state));
}

export function readSnapshot(sql: Sql, sessionId: string, form: string): Snapshot | undefined {
  const read = `SELECT seq, state FROM snapshots
    WHERE session = (SELECT key FROM sessions WHERE id = ?) AND form = ?`;
  const row = sql.get(read, sessionId, form);
  if (row === undefined) return undefined;
  const state = parseJson(row.text("state"));
  if (state.ok && isObject(state.value)) {
    return { version: form, seq: row.number("seq"), state: state.value };
  }
  throw new StoreError("store_damaged", "The snapshot is no JSON object", {
    details: { sessionId },
  });
}
