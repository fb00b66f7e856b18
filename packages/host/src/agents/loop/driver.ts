/** The node driver of the agent loop: it decides from the log and makes one recorded call after another. */
import { MODEL_PERFORMER } from '../../engine/performer-ids.ts';
import type { NodeDriver } from '../../engine/workflow/node-type.ts';
import type { AgentConfig } from './agent-config.ts';
import { callChange } from './calls/call-rows.ts';
import { cancelledCall, clientAnswer } from './calls/client-calls.ts';
import { aboutModel, askModelAgain, modelInput, modelReturned } from './calls/model-calls.ts';
import { recordedCalls } from './calls/recorded-calls.ts';
import { aboutTool, callAgain, toolInput, toolReturned } from './calls/tool-calls.ts';
import type { LoopOptions } from './loop-options.ts';
import { nextOfLoop } from './next.ts';
import { evolveLoop } from './state/evolve-loop.ts';
import { freshLoop, type LoopState } from './state/loop-state.ts';
import { stoppedLoop } from './stopped.ts';

export function createAgentDriver(options: LoopOptions): NodeDriver<LoopState, AgentConfig> {
  return {
    fresh: freshLoop,
    runChange: callChange,
    recorded: recordedCalls,
    evolve: evolveLoop,
    next: (context) => nextOfLoop(context, options),
    callInput: (context, call) =>
      call.step === MODEL_PERFORMER ? modelInput(context, options) : toolInput(context, call, options),
    about: (context, call) => (call.step === MODEL_PERFORMER ? aboutModel(context) : aboutTool(context, call, options)),
    returned: (context, call, result) =>
      call.step === MODEL_PERFORMER
        ? [modelReturned(context, call, result)]
        : toolReturned(context, call, result, options),
    again: (context, call) =>
      call.step === MODEL_PERFORMER ? askModelAgain(context, call) : [callAgain(context.node.id, call)],
    answer: clientAnswer,
    cancelled: cancelledCall,
    stopped: stoppedLoop,
    hasWritten: ({ writes }) => writes > 0,
  };
}
