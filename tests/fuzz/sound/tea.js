export function tea(a) { return `${a}` }
class T { x() {} }
