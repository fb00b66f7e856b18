/** Renders inputs and outputs as text for models. Requests and conversation history share these rules. */
import type { Json, JsonObject } from '@cairn/protocol';

/** The first non-empty text among `message`, `task` and `prompt`, else all inputs as JSON. */
export function taskText(inputs: JsonObject): string {
  const stated = [inputs.message, inputs.task, inputs.prompt].find(
    (value) => typeof value === 'string' && value !== '',
  );
  if (typeof stated === 'string') return stated;
  return Object.keys(inputs).length === 0 ? '' : JSON.stringify(inputs);
}

/** The result of a run as text: its `content` or `result`, else all outputs as JSON. */
export function resultText(outputs: JsonObject): string {
  const stated = [outputs.content, outputs.result].find((value) => typeof value === 'string' && value !== '');
  if (typeof stated === 'string') return stated;
  return Object.keys(outputs).length === 0 ? '' : JSON.stringify(outputs as Json);
}
