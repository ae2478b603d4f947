// ask.js SCHEMA QUESTION…: a new database by the statements of the file SCHEMA, into which the lines of records/store.ndjson are put; then each
// QUESTION is asked. Prints {name: rows} as JSON. ClickHouse runs inside this process, as chDB.
const fs = require("fs");
const path = require("path");
const { Session } = require("chdb");

const [schema, ...questions] = process.argv.slice(2);
const session = new Session(fs.mkdtempSync(path.resolve("database-")));
try {
  // As the client sends them, one by one.
  for (const statement of fs.readFileSync(schema, "utf8").split(/;$/m)) if (/^\w/m.test(statement)) session.query(statement);
  session.query(`insert into fleet.records select * from file('${path.resolve("records/store.ndjson")}', LineAsString)`);
  const answers = {};
  for (const question of questions) {
    const text = fs.readFileSync(question, "utf8").trim().replace(/;$/, "");
    answers[path.basename(question, ".sql")] = JSON.parse(session.query(text, "JSON")).data;
  }
  console.log(JSON.stringify(answers));
} finally {
  session.cleanup();
}
