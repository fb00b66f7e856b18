import { store } from '../packages/host/src/log/port.ts'; // refused
export const tool = store;
