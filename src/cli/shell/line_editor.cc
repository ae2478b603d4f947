#include "cli/shell/line_editor.h"

#include "dnheap/program.h"
#include "dnheap/text.h"

#ifdef DNHEAP_LINE_EDITING

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <histedit.h>

// From terminfo, whose headers define words such as `lines`.
extern "C" int tgetent(char *buffer, const char *name);

namespace dnheap::cli {

namespace {

constexpr std::size_t most_choices = 200; // listed

class Libedit final : public LineEditor {
public:
  Libedit(std::string prompt, Complete complete, HistoryFile history)
      : prompt_(std::move(prompt)), complete_(std::move(complete)), file_(std::move(history)), history_(history_init()),
        editor_(el_init("dnheap", stdin, stdout, stderr)) {
    if (!editor_ || !history_)
      return;
    ::history(history_, &event_, H_SETSIZE, static_cast<int>(HistoryFile::most_lines));
    ::history(history_, &event_, H_SETUNIQUE, 1);
    for (const std::string &line : file_.lines())
      ::history(history_, &event_, H_ENTER, line.c_str());
    el_set(editor_, EL_CLIENTDATA, this);
    el_set(editor_, EL_PROMPT, &Libedit::prompt);
    el_set(editor_, EL_HIST, ::history, history_);
    el_set(editor_, EL_SIGNAL, 1); // restores the terminal if a signal ends the program
    el_set(editor_, EL_EDITOR, "emacs");
    el_set(editor_, EL_ADDFN, "dnheap-complete", "complete the word", &Libedit::on_tab);
    el_set(editor_, EL_ADDFN, "dnheap-give-up", "give the line up", &Libedit::on_interrupt);
    el_set(editor_, EL_ADDFN, "dnheap-suspend", "suspend the program", &Libedit::on_suspend);
    // While a line is typed Ctrl-C must be a key: as a signal it would cancel the Progress that the next question
    // needs. This makes Ctrl-Z a key, too.
    el_set(editor_, EL_SETTY, "-d", "-isig", nullptr);
    bind("^C", "dnheap-give-up");
    bind("^Z", "dnheap-suspend");
    bind("^I", "dnheap-complete");
    bind("^R", "em-inc-search-prev");
    bind("^W", "ed-delete-prev-word");
    bind("\\e[3~", "ed-delete-next-char");
    bind("\\e[1;5C", "em-next-word");
    bind("\\e[1;5D", "ed-prev-word");
    el_source(editor_, nullptr); // the user's own ~/.editrc
  }
  ~Libedit() override {
    if (editor_)
      el_end(editor_);
    if (history_)
      history_end(history_);
  }
  Libedit(const Libedit &) = delete;
  Libedit &operator=(const Libedit &) = delete;

  bool works() const { return editor_ && history_; }

  std::optional<std::string> next() override {
    is_given_up_ = false;
    int length = 0;
    const char *text = el_gets(editor_, &length);
    if (is_given_up_ || (!text && errno == EINTR))
      return "";
    if (!text || length <= 0) {
      std::fputs("\n", stdout);
      return std::nullopt;
    }
    std::string line(text, static_cast<std::size_t>(length));
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r'))
      line.pop_back();
    if (!line.empty() && line[0] != ' ' && line != last_) {
      ::history(history_, &event_, H_ENTER, line.c_str());
      file_.add(line);
      last_ = line;
    }
    return line;
  }

private:
  static Libedit &of(EditLine *editor) {
    void *self = nullptr;
    el_get(editor, EL_CLIENTDATA, &self);
    return *static_cast<Libedit *>(self);
  }
  static char *prompt(EditLine *editor) { return of(editor).prompt_.data(); }
  static unsigned char on_tab(EditLine *editor, int) { return of(editor).complete(); }
  static unsigned char on_interrupt(EditLine *editor, int) {
    Libedit &self = of(editor);
    self.is_given_up_ = true;
    std::fputs("^C\n", stdout);
    std::fflush(stdout);
    return CC_EOF;
  }

  static unsigned char on_suspend(EditLine *, int) {
    ::kill(0, SIGTSTP); // libedit restores the terminal, before and after
    return CC_REDISPLAY;
  }

  void bind(const char *key, const char *command) { el_set(editor_, EL_BIND, key, command, nullptr); }

  unsigned char complete() {
    const LineInfo *line = el_line(editor_);
    const std::string_view before(line->buffer, static_cast<std::size_t>(line->cursor - line->buffer));
    el_set(editor_, EL_PREP_TERM, 0); // so that Ctrl-C ends slow work
    const Completion found = complete_(before);
    el_set(editor_, EL_PREP_TERM, 1);
    const std::string old(before.substr(std::min(found.begin, before.size())));
    if (found.text != old) {
      // Counts characters, not bytes.
      const auto characters =
          std::ranges::count_if(old, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
      el_deletestr(editor_, static_cast<int>(characters));
      if (el_insertstr(editor_, found.text.c_str()) == 0)
        return CC_REFRESH;
      el_insertstr(editor_, old.c_str()); // there was no room
      return CC_REFRESH_BEEP;
    }
    if (found.choices.empty())
      return CC_REFRESH_BEEP;
    list(found.choices);
    return CC_REDISPLAY;
  }

  // Prints in columns, as many as fit.
  static void list(const std::vector<std::string> &choices) {
    const std::size_t shown = std::min(choices.size(), most_choices);
    std::vector<std::string> words;
    std::size_t widest = 0;
    for (std::size_t i = 0; i < shown; ++i) {
      words.push_back(printable_text(choices[i]));
      widest = std::max(widest, words.back().size());
    }
    const std::size_t across = std::max<std::size_t>(terminal_width(1) / (widest + 2), 1);
    const std::size_t rows = (shown + across - 1) / across;
    std::string out = "\n";
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t i = row; i < shown; i += rows)
        out += words[i] + (i + rows < shown ? std::string(widest + 2 - words[i].size(), ' ') : "");
      out += "\n";
    }
    if (shown < choices.size())
      out += "… and " + std::to_string(choices.size() - shown) + " more\n";
    std::fputs(out.c_str(), stdout);
    std::fflush(stdout);
  }

  std::string prompt_;
  const Complete complete_;
  const HistoryFile file_;
  HistEvent event_{};
  ::History *history_;
  EditLine *editor_;
  std::string last_;
  bool is_given_up_ = false;
};

} // namespace

std::unique_ptr<LineEditor> LineEditor::open(std::string prompt, Complete complete, HistoryFile history) {
  const char *terminal = std::getenv("TERM");
  if (!is_terminal(0) || !is_terminal(1) || !terminal || std::strcmp(terminal, "dumb") == 0)
    return nullptr;
  if (tgetent(nullptr, terminal) != 1) // otherwise libedit would report it in alarming words
    return nullptr;
  std::setlocale(LC_CTYPE, "C.UTF-8"); // the program always writes UTF-8, whatever the language
  auto out = std::make_unique<Libedit>(std::move(prompt), std::move(complete), std::move(history));
  if (!out->works())
    return nullptr;
  return out;
}

} // namespace dnheap::cli

#else // no libedit here

namespace dnheap::cli {

std::unique_ptr<LineEditor> LineEditor::open(std::string, Complete, HistoryFile) { return nullptr; }

} // namespace dnheap::cli

#endif
