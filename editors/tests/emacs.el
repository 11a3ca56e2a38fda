;;; emacs.el --- Tests of sluice-mode -*- lexical-binding: t -*-

;; emacs -Q --batch -L editors/emacs -l editors/tests/emacs.el -f ert-run-tests-batch-and-exit
;; What needs the server is skipped unless SLUICE names the command.

(require 'ert)
(require 'imenu)
(require 'sluice-mode)

(defconst sluice-tests-root
  (expand-file-name "../.." (file-name-directory (or load-file-name buffer-file-name))))

(defun sluice-tests-programs ()
  "Programs in the canonical style, many kinds of statement in them."
  (append (directory-files-recursively (expand-file-name "examples" sluice-tests-root) "\\.str\\'")
          (directory-files-recursively (expand-file-name "benchmarks" sluice-tests-root) "\\.str\\'")
          (directory-files-recursively (expand-file-name "stdlib" sluice-tests-root) "\\.str\\'")))

(defun sluice-tests-face (text)
  "The face of the first TEXT behind point."
  (search-forward text)
  (goto-char (match-beginning 0))
  (prog1 (get-text-property (point) 'face) (goto-char (+ (point) (length text)))))

(ert-deftest sluice-files-have-the-mode ()
  (with-temp-buffer
    (setq buffer-file-name "/x/y.str")
    (let ((enable-local-variables nil)) (set-auto-mode))
    (should (eq major-mode 'sluice-mode))
    (set-buffer-modified-p nil)
    (setq buffer-file-name nil)))

(ert-deftest sluice-colours ()
  (with-temp-buffer
    (insert "// filter\n/* pop */ float->int stateful filter Low(int n) {\n"
            "    work push 1 pop n { push(sin(peek(0)) + pi); println(\"work // \\\" x\"); int c = '\"'; }\n}\n"
            "void->void pipeline P { add Low(3); add Identity<int>; }\n")
    (sluice-mode)
    (font-lock-ensure)
    (goto-char (point-min))
    (should (memq (sluice-tests-face "filter") '(font-lock-comment-face)))
    (should (eq (sluice-tests-face "pop") 'font-lock-comment-face))
    (should (eq (sluice-tests-face "float") 'font-lock-type-face))
    (should (eq (sluice-tests-face "stateful") 'font-lock-keyword-face))
    (should (eq (sluice-tests-face "filter") 'font-lock-keyword-face))
    (should (eq (sluice-tests-face "Low") 'font-lock-function-name-face))
    (should (eq (sluice-tests-face "work") 'font-lock-keyword-face))
    (should (eq (sluice-tests-face "push") 'font-lock-builtin-face))
    (should (eq (sluice-tests-face "sin") 'font-lock-builtin-face))
    (should (eq (sluice-tests-face "pi") 'font-lock-constant-face))
    (should (eq (sluice-tests-face "work") 'font-lock-string-face))
    (should (eq (sluice-tests-face "x\"") 'font-lock-string-face))
    (should (eq (sluice-tests-face "int") 'font-lock-type-face))
    (should (eq (sluice-tests-face "add") 'font-lock-keyword-face))
    (should (eq (sluice-tests-face "Low") 'font-lock-type-face))
    (should (eq (sluice-tests-face "Identity") 'font-lock-type-face))))

(ert-deftest sluice-keeps-the-canonical-indentation ()
  "Programs that the formatter has laid out stay as they are, where a line begins at the first thing of its block."
  (let ((lines 0) (wrong '()))
    (dolist (file (sluice-tests-programs))
      (with-temp-buffer
        (insert-file-contents file)
        (sluice-mode)
        (goto-char (point-min))
        (while (not (eobp))
          (unless (or (looking-at "[ \t]*$") (nth 4 (syntax-ppss)) (nth 3 (syntax-ppss)))
            (let ((before (save-excursion (forward-comment (- (point))) (char-before))))
              ;; What goes on from the line above is the formatter's to indent.
              (when (memq before '(nil ?\; ?\{ ?\}))
                (setq lines (1+ lines))
                (unless (eql (sluice--indentation) (current-indentation))
                  (push (format "%s:%d: %s, not %s" file (line-number-at-pos) (sluice--indentation) (current-indentation)) wrong)))))
          (forward-line))))
    (should (> lines 1000))
    (should-not wrong)))

(ert-deftest sluice-outline ()
  (with-temp-buffer
    (insert-file-contents (expand-file-name "examples/fm.str" sluice-tests-root))
    (sluice-mode)
    (let ((streams (mapcar #'car (cdr (assoc "Streams" (funcall imenu-create-index-function))))))
      (should (member "ChannelFilter" streams))
      (should (member "FMReceiver" streams)))))

(ert-deftest sluice-messages-lead-to-their-places ()
  (with-temp-buffer
    (insert-file-contents (expand-file-name "tests/errors/E0001-character.expect" sluice-tests-root))
    (compilation-mode)
    (compilation--ensure-parse (point-max))
    (goto-char (point-min))
    (let ((message (get-text-property (point) 'compilation-message)))
      (unless message
        (goto-char (or (next-single-property-change (point) 'compilation-message) (point-max)))
        (setq message (get-text-property (point) 'compilation-message)))
      (should message)
      (let ((place (compilation--message->loc message)))
        (should (equal (cadr place) 1))
        (should (equal (car place) 52))
        (should (string-suffix-p "E0001-character.str" (caar (compilation--loc->file-struct place))))))))

(ert-deftest sluice-compiles-without-warnings ()
  (dolist (name (if (require 'eglot nil t) '("sluice-mode" "sluice-eglot") '("sluice-mode")))
    (let* ((source (expand-file-name (concat "editors/emacs/" name ".el") sluice-tests-root))
           (target (make-temp-file name nil ".elc"))
           (byte-compile-dest-file-function (lambda (_) target))
           (byte-compile-error-on-warn t))
      (unwind-protect (should (byte-compile-file source)) (delete-file target)))))

(defun sluice-tests-wait (what seconds)
  "Waits until WHAT gives something, or SECONDS are over."
  (let ((end (+ (float-time) seconds)) found)
    (while (and (not (setq found (funcall what))) (< (float-time) end))
      (accept-process-output nil 0.05))
    found))

(defmacro sluice-tests-with-server (text &rest body)
  "Opens a file with TEXT as a person does, Eglot at work in it, and does BODY there."
  (declare (indent 1))
  `(let* ((folder (make-temp-file "sluice" t))
          (file (expand-file-name "p.str" folder))
          (sluice-command (getenv "SLUICE"))
          (eglot-sync-connect 20))
     (with-temp-file file (insert ,text))
     (unwind-protect
         (with-current-buffer (find-file-noselect file)
           (switch-to-buffer (current-buffer))
           (eglot-ensure)
           (run-hooks 'post-command-hook)
           (should (sluice-tests-wait #'eglot-current-server 20))
           (unwind-protect (progn ,@body)
             (set-buffer-modified-p nil)
             (eglot-shutdown (eglot-current-server))
             (kill-buffer)))
       (delete-directory folder t))))

(defconst sluice-tests-program
  (concat "void->int filter Source {\n    int n;\n    work push 2 {\n        push(n++);\n        push(n);\n    }\n}\n"
          "int->void filter Sink {\n    work pop 1 {\n        println(pop());\n    }\n}\n"
          "void->void pipeline Main {\n    add Source;\n    add Sink;\n}\n"))

(defun sluice-tests-hints ()
  "The hints that are shown."
  (mapconcat (lambda (o) (or (overlay-get o 'after-string) (overlay-get o 'before-string) ""))
             (seq-filter (lambda (o) (overlay-get o 'eglot--inlay-hint)) (overlays-in (point-min) (point-max))) "\n"))

(ert-deftest sluice-server ()
  "Eglot starts the server, shows hints, the initiation interval when it is ready, and what a hover says."
  (skip-unless (getenv "SLUICE"))
  (skip-unless (require 'eglot nil t))
  (sluice-tests-with-server sluice-tests-program
    (should eglot-inlay-hints-mode)
    ;; No screen asks for them here: the server does, when it has them.
    (should (sluice-tests-wait (lambda () (string-match-p "×2 · 1→0" (sluice-tests-hints))) 20))
    (should (sluice-tests-wait (lambda () (string-match-p "II [0-9]+ cyc" (sluice-tests-hints))) 30))
    (goto-char (point-min))
    (search-forward "add Sin")
    (should (plist-get (eglot--request (eglot-current-server) :textDocument/hover (eglot--TextDocumentPositionParams)) :contents))))

(ert-deftest sluice-server-mends-and-renames ()
  "A diagnostic comes, its fix is applied, it goes; a rename reaches the declaration; what is formatted is as the command formats it."
  (skip-unless (getenv "SLUICE"))
  (skip-unless (require 'eglot nil t))
  (sluice-tests-with-server (string-replace "push(n);" "push(n)" sluice-tests-program)
    (let ((faults (lambda ()
                    ;; What a moment without keys does.
                    (eglot--signal-textDocument/didChange)
                    (flymake-start)
                    (flymake-diagnostics))))
      (should (sluice-tests-wait faults 20))
      (should (string-match-p "`;`" (flymake-diagnostic-text (car (funcall faults)))))
      (goto-char (flymake-diagnostic-beg (car (funcall faults))))
      (let ((fix (seq-find (lambda (action) (string-match-p ";" (plist-get action :title)))
                           (eglot-code-actions (line-beginning-position) (line-end-position)))))
        (should fix)
        (eglot-execute (eglot-current-server) fix))
      (should (equal (buffer-string) sluice-tests-program))
      (should (sluice-tests-wait (lambda () (not (funcall faults))) 20)))
    (goto-char (point-min))
    (search-forward "add Sin")
    (eglot-rename "Drain")
    (should (equal (buffer-string) (string-replace "Sink" "Drain" sluice-tests-program)))
    (goto-char (point-min))
    (search-forward "push 2")
    (replace-match "push   2")
    (eglot-format-buffer)
    (should (string-match-p "work push 2 {" (buffer-string)))))

;;; emacs.el ends here
