import { expect, it, vi } from "vitest";
import { createFakeClock } from "../../../../test/support/fake-clock.ts";
import { createMemoryStore } from "../../../store/memory/memory-store.ts";
import { renewLease } from "./renew-lease.ts";

const LEASE_MS = 30_000;

async function keptLease() {
  const store = createMemoryStore();
  const clock = createFakeClock();
  const { lease } = await store.acquire("ses_1", {
    owner: "me",
    now: clock.now(),
    durationMs: LEASE_MS,
  });
  const lost = vi.fn<(error: unknown) => void>();
  const stop = renewLease({ store, lease, leaseMs: LEASE_MS, clock }, lost);
  const takeOver = (): Promise<unknown> =>
    store.acquire("ses_1", {
      owner: "other",
      now: clock.now(),
      durationMs: LEASE_MS,
      takeOver: true,
    });
  /** Performs the next renewal and waits for its result. */
  const renewed = async (): Promise<void> => {
    clock.advance(LEASE_MS / 2);
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  };
  return { store, clock, lost, stop, takeOver, renewed };
}

it("A lease is renewed until another process takes it over", async () => {
  const { store, clock, lost, renewed } = await keptLease();
  for (let times = 0; times < 4; times++) await renewed();
  const other = { owner: "other", now: clock.now(), durationMs: LEASE_MS };
  await expect(store.acquire("ses_1", other)).rejects.toMatchObject({ code: "lease_held" });
  expect(lost).not.toHaveBeenCalled();
});

it("A lease that another process took over is reported as lost, once, and is not renewed again", async () => {
  const { clock, lost, takeOver, renewed } = await keptLease();
  await takeOver();
  await renewed();
  await renewed();
  expect(lost.mock.calls).toEqual([[expect.objectContaining({ code: "stale_lease" })]]);
  expect(clock.pending).toBe(0);
});

it("A renewal that fails permanently is reported as a lost lease", async () => {
  const { store, lost, renewed } = await keptLease();
  await store.close();
  await renewed();
  expect(lost.mock.calls).toEqual([[expect.objectContaining({ code: "store_closed" })]]);
});

it("A stopped lease is neither renewed nor reported", async () => {
  const { clock, lost, stop, takeOver, renewed } = await keptLease();
  stop();
  await takeOver();
  await renewed();
  expect(lost).not.toHaveBeenCalled();
  expect(clock.pending).toBe(0);
});
