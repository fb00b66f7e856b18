import { store } from '../packages/host/src/log/port.ts';
export const crash = store;
