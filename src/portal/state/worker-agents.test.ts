import { expect, it } from "vitest";
import { createLeadView, createView } from "../../../test/support/portal/session-views.ts";
import { listWorkerAgents } from "./worker-agents.ts";

it("A session lists the agents for its workers, and none without workers or on the deepest level", () => {
  expect(listWorkerAgents(createLeadView())).toEqual(["writer", "reviewer"]);
  expect(listWorkerAgents(createLeadView(1))).toEqual(["writer", "reviewer"]);
  expect(listWorkerAgents(createLeadView(2))).toEqual([]);
  expect(listWorkerAgents(createView([]))).toEqual([]);
});
