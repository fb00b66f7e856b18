/** Whether every JavaScript object has this property, such as `constructor`. Names in a definition must not match one. */
export const isReservedName = (name: string): boolean => name in {};
