import { OpenAI } from "openai";
import type { ResponsesServerEvent } from "openai/resources/responses/responses";
import { ResponsesWS } from "openai/resources/responses/ws";
import { expect, it, onTestFinished } from "vitest";
import { echoes, gate, saysWhen, textIn, worldOf } from "../responses/surface/responses-world.ts";
import { withDeadline } from "../support/with-deadline.ts";

it("The WebSocket of the openai package steers a running response [OR-76] [ACP-118]", async () => {
  const more = gate();
  const world = await worldOf([saysWhen("One. ", more, "Two. "), echoes()]);
  const client = new OpenAI({ baseURL: world.baseUrl, apiKey: world.apiKey });
  const socket = new ResponsesWS(client);
  onTestFinished(() => socket.close());
  const seen: ResponsesServerEvent[] = [];
  const completed = new Promise<ResponsesServerEvent>((resolve, reject) => {
    socket.on("error", reject);
    socket.on("event", (event) => {
      seen.push(event);
      if (event.type === "response.created") {
        const { id } = event.response;
        socket.send({ type: "response.steer", previous_response_id: id, input: "Three" });
      }
      if (event.type === "response.steer.accepted") more.open();
      if (event.type === "response.completed") resolve(event);
    });
  });
  socket.send({ type: "response.create", model: "scripted", input: "Go" });
  const types = () => seen.map(({ type }) => type).join(", ");
  const event = await withDeadline(completed, types);
  expect(event).toMatchObject({ response: { status: "completed" } });
  expect("response" in event && textIn({ ...event.response })).toContain("You said: Three");
  expect(seen.find(({ type }) => type === "response.steer.accepted")).toMatchObject({
    steer: { id: expect.stringMatching(/^msg_inj_/) },
  });
});
